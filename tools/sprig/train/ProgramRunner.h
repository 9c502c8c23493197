// The programs of `sprig train` as what the training loop (lib/TrainLoop) drives, and the loop with their flags.
// Knows no compiler.
#pragma once
#include "lib/TrainLoop/Loop.h"
#include "lib/Training/TrainConfig.h"
#include "tools/sprig/LoaderFlags.h"
#include "tools/sprig/train/TrainRanks.h"

namespace sprig::cli {

class ProgramRunner final : public training::StepRunner, public training::RankGroup {
public:
  /// `evaluation` may be null. All outlive this.
  ProgramRunner(TrainRanks &ranks, const TrainData &data, const TrainData *evaluation,
                const training::TrainConfig &config)
      : ranks(ranks), data(data), evaluation(evaluation), config(config), base(config.optimizer.lr) {}

  // StepRunner
  size_t maxInFlight() const override { return ranks.first().callsAhead(); }
  void submit(const training::Call &call) override;
  std::span<const StepResult> collect(bool wait) override;
  void cancel() override { ranks.cancel(); }
  training::Evaluation evaluate() override { return ranks.evaluate(*evaluation); }
  training::WholeState state() override { return ranks.state(); }
  bool sharesState() const override { return ranks.sharesState(); }
  void restore(const std::vector<data::Array> &arrays) override;
  std::vector<data::Array> weights() override { return ranks.first().parameters(); }
  void setWeights(const std::vector<data::Array> &arrays) override { ranks.setParameters(arrays); }
  double rateAt(int64_t step) const override;
  bool lowerRates(const training::ScheduleConfig &schedule) override;

  // RankGroup
  bool haveLoops() const override { return ranks.areProcesses(); }
  void agree(int &signal, int64_t &steps) override { ranks.agree(signal, steps); }
  bool ofFirst(bool own) override { return own; } // its observers end no run
  void checkReplicas() override { ranks.checkReplicas(); }

private:
  struct Steps {
    int64_t first, count;
  };

  TrainRanks &ranks;
  const TrainData &data;
  const TrainData *evaluation;
  const training::TrainConfig &config;
  double base;                  ///< the rate that the schedule starts from
  std::vector<Steps> underWay;  ///< in their order
  std::vector<StepResult> told; ///< the results of the last call
  uint64_t exposedBefore = 0;   ///< ns of communication that nothing hid, up to the last step that has ended
};

/// What ranks that are processes must find alike before they train.
struct TrainBeginning {
  int64_t steps = 0;                    ///< to go on from
  std::vector<std::string> collectives; ///< of the program
};
/// Throws badInput where they do not.
void checkBeginning(const TrainRanks &ranks, const TrainData &data, const TrainData *evaluation,
                    const training::TrainConfig &config, const TrainBeginning &beginning);

/// The samples of a run's steps, by the configuration; from a loader where its flags ask for one.
class TrainSource {
public:
  TrainSource(const TrainProgram &program, const TrainData &data, const training::TrainConfig &config,
              const LoaderFlags &flags = {});
  training::BatchSource &operator*() { return *source; }

private:
  std::optional<data::Loader> loader;
  std::unique_ptr<training::BatchSource> source;
};

/// What the configuration says of the loop. `evaluates`: there are data to evaluate on. Throws usage where something
/// goes by what is not measured.
training::LoopOptions loopOptions(const training::TrainConfig &config, bool evaluates);

/// Warnings of a run, on standard error.
struct PrintWarnings final : training::LoopObserver {
  void onWarning(const std::string &text) override;
};

} // namespace sprig::cli
