// A network that is trained again and again from the same weights: on so many ranks, with that batch and rate.
// For bench sweep. Ranks are threads of this process. A program serves all rates of a number of ranks and a batch.
#pragma once
#include "tools/sprig/bench/Networks.h"
#include "tools/sprig/bench/RandomData.h"
#include "tools/sprig/train/ProgramRunner.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sprig::cli {

struct SweepPoint {
  int ranks = 1;
  int64_t batch = 0; ///< of all ranks
  double rate = 0;
  uint64_t seed = 1; ///< of the weights and the order of samples
};

struct SweptRun {
  SweepPoint point;
  std::optional<training::LoopResult> outcome; ///< none where the loss was not finite
  std::vector<double> losses;                  ///< of its steps
  std::string failure;                         ///< "step 3: the loss is NaN (...)"
  int64_t stepsOfEpoch = 0;
  bool areReplicas = true; ///< all ranks have ended with the same bits
  uint64_t memoryPeak = 0; ///< the runtime's, of all ranks, compiling and loading included
  /// Seconds of an epoch without evaluations.
  double epochSeconds() const;
  double firstLoss() const { return losses.front(); }
};

class SweptTraining {
public:
  /// What makes the network of functions for these numbers of samples.
  using MakeNetwork = TrainedNetwork (*)(const std::vector<int64_t> &sizes, int64_t width);
  /// `seeds`: the most that a run's may be.
  SweptTraining(MakeNetwork make, int64_t width, ImageSets sets, int64_t epochs, uint64_t seeds,
                const Settings &settings)
      : make(make), width(width), sets(std::move(sets)), epochs(epochs), seeds(seeds), settings(settings) {}

  /// Trains from the beginning, and evaluates at the end.
  SweptRun run(const SweepPoint &point);
  /// Losses of the first steps alone.
  std::vector<double> firstLosses(const SweepPoint &point, int64_t steps);
  /// What so many ranks find of the weights in this state, which a run of any number of ranks has ended with.
  training::Evaluation evaluate(int ranks, int64_t batch, const std::vector<data::Array> &state);
  /// That the last run has ended with.
  std::vector<data::Array> lastState() { return training::copyState(made->ranks->state().arrays); }

  const ImageSets &images() const { return sets; }
  int64_t parameters() const { return trainedNumbers; }

private:
  struct Program {
    training::TrainConfig config;
    std::unique_ptr<TrainRanks> ranks;
    std::vector<std::vector<data::Array>> starts; ///< by seed
  };
  MakeNetwork make;
  int64_t width;
  ImageSets sets;
  int64_t epochs;
  uint64_t seeds;
  Settings settings;
  int64_t trainedNumbers = 0;
  // The last one: a sweep comes to one number of ranks and one batch after the other.
  std::pair<int, int64_t> madeFor;
  std::unique_ptr<Program> made;

  Program &programFor(int ranks, int64_t batch);
  SweptRun train(const SweepPoint &point, int64_t steps, bool evaluates);
};

enum class SweptOver : uint8_t { ranks, batches, rates };

/// As SVG. Over rates each number of ranks has a curve for each seed. A run that diverged is a gap, which a mark shows.
std::string drawSweep(const std::string &title, const std::string &subtitle, SweptOver over,
                      const std::vector<SweptRun> &runs);

} // namespace sprig::cli
