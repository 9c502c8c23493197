// A loaded training program with its state: steps and evaluations on samples, state as arrays.
// For `sprig train`. Knows no compiler: the package may come from a file. One thread at a time. Of ranks that train
// together (TrainRanks.h) it is one's: sizes and indices are of all ranks, of which it takes its own.
// A call takes one step, or several where the program has an entry for them. Where it takes calls ahead, one may be
// handed over while the one before it is under way; results are in order.
#pragma once
#include "lib/Data/Samples.h"
#include "lib/TrainLoop/StepRunner.h"
#include "tools/sprig/run/Runner.h"
#include "tools/sprig/train/RankShare.h"

namespace sprig::cli {

/// Where the samples of a program's inputs and targets come from; counts agree.
struct TrainData {
  std::vector<data::Samples> inputs; ///< in the order of the program's inputs
  std::optional<data::Samples> targets;
  int64_t count() const { return inputs.empty() ? 0 : inputs.front().count(); }
};

using training::StepResult;

/// What an evaluation adds up.
struct EvaluationSums {
  double added = 0;                              ///< losses that are sums
  std::vector<double> sums, weights;             ///< of each mean: what it is of, and what it is divided by
  int64_t samples = 0, correct = 0, counted = 0; ///< counted: predictions that can be right or wrong
  training::Evaluation scores() const;
};

class TrainProgram {
public:
  /// Throws badInput for a package that does not train, or whose steps are of other ranks.
  explicit TrainProgram(Runner runner, RankShare share = {});

  /// Whether a package is the program of each rank, rather than of one of them.
  static bool isOfAnyRank(const Runner &runner);

  /// Numbers of samples that it has entries for.
  std::vector<int64_t> stepSizes() const;
  std::vector<int64_t> evaluationSizes() const;
  /// How many steps of how many samples it takes in one call; 1 where it has no such entry.
  int64_t stepsPerCall() const { return several ? several->steps : 1; }
  int64_t samplesOfSeveral() const { return several ? several->samples : 0; }
  /// Interface of one step: inputs, then targets; without the first dimension.
  const std::vector<TensorSpec> &inputs() const { return interface; }

  /// Whether a step may be handed over before the one before it is finished: where devices have memory of their own,
  /// its samples come there beside that one's arithmetic.
  bool takesAhead() const { return ahead; }
  /// Takes the samples of so many steps of one size, of these indices one step after the other; there must be an entry
  /// for as many.
  void load(const TrainData &data, std::span<const int64_t> indices, int64_t steps = 1);
  /// The same of batches that lie in memory, one for each step: inputs, then targets, as inputs() says. It began to
  /// wait for them at `begin`.
  void load(std::span<const data::Batch> batches, training::Clock::time_point begin);
  /// Hands over what was loaded. On the host's memory it has ended when this returns, and nothing was allocated.
  void handOver();
  /// Waits for the first call that was handed over and not finished, and throws what it failed with. One result for
  /// each step, which stay until the call is used again; several share its time evenly.
  std::span<const StepResult> finish();
  /// Ends what is under way, whose results nobody wants any more.
  void cancel();
  StepResult step(const TrainData &data, std::span<const int64_t> indices) {
    load(data, indices);
    handOver();
    return finish().front();
  }
  /// Takes the samples of an evaluation, as many of these from `first` on as there is an entry for; gives their number.
  int64_t loadEvaluation(const TrainData &data, int64_t first);
  /// Adds what the first evaluation that was handed over and not finished has found.
  void finishEvaluation(EvaluationSums &result);
  /// How many calls may be under way.
  size_t callsAhead() const { return ahead ? 2 : 1; }

  /// The state as it is between two steps; the bytes are the program's own, or a copy where those are not the host's.
  std::vector<checkpoints::ArrayView> state() const;
  /// The shape of what an array of the state is a rank's flat piece of (runtime/collective/Piece.h); null: it is whole.
  const std::vector<int64_t> *wholeOf(size_t array) const { return wholes[array].empty() ? nullptr : &wholes[array]; }
  bool hasPieces() const;
  /// Takes over a state of the same names, types and shapes, of whole arrays; badInput names what differs.
  void restore(std::span<const data::Array> arrays);
  /// The model's own arrays, not the optimizer's; of weights that have a moving average, that.
  std::vector<data::Array> parameters() const;
  /// Sets them, and their averages.
  void setParameters(std::span<const data::Array> arrays);

  /// Sets the learning rate that the schedule starts from and the key of random numbers, which are state.
  void start(double lr, uint64_t seed);

  uint64_t stateBytes() const;
  const Runner &package() const { return runner; }
  const RankShare &rankShare() const { return share; }
  int threads() const { return runner.threads(); }

private:
  struct Release {
    void operator()(sprig_rt_future *future) const { sprig_rt_future_release(future); }
  };
  // An entry's arrays in place, of one call at a time.
  struct Call {
    Call() = default;
    Call(const Call &) = delete;
    ~Call() { stop(); } // the run must not outlive its arrays
    void stop();
    int32_t entry = 0;
    int64_t samples = 0, steps = 1; ///< samples of each
    std::vector<data::Intake> intakes;
    std::vector<TensorSpec> specs;
    std::vector<std::shared_ptr<void>> inputs;
    std::vector<sprig_rt_tensor> inputViews, outputViews;
    std::vector<float> losses, norms; ///< of each step; of an evaluation all that is f32
    int64_t correct = 0, counted = 0;
    std::vector<data::Batch> batches;                 ///< that a call under way reads
    std::unique_ptr<sprig_rt_future, Release> future; ///< of a call under way
    StepResult result;                                ///< of all steps together
    std::vector<StepResult> results;
  };
  // Of one number of samples. A call that lies beside another has arrays of its own: they take turns.
  struct Calls {
    uint32_t entry = 0;
    int64_t samples = 0, steps = 1;
    bool evaluation = false;
    std::unique_ptr<Call> turns[2] = {};
  };

  Runner runner;
  RankShare share;
  mutable std::vector<std::vector<char>> mirror; ///< of states that lie on devices with memory of their own
  std::vector<TensorSpec> interface;
  std::vector<std::vector<int64_t>> wholes; ///< of arrays of the state, those that are pieces
  bool ahead;
  uint32_t turn = 0;
  std::vector<Calls> steps, evaluations;
  std::optional<Calls> several; ///< steps in a call
  Call *loaded = nullptr;       ///< has its samples, and was not handed over
  std::vector<Call *> underWay; ///< as they were handed over
  std::vector<int64_t> places;  ///< of a rank's samples among those of a call
  std::vector<int64_t> indices; ///< of these
  training::Clock::time_point lastEnd;

  const void *stateOnHost(uint32_t index, uint64_t bytes) const;
  void findSeveral(uint32_t entry);
  std::unique_ptr<Call> prepare(const Calls &of) const;
  Call &next(std::vector<Calls> &calls, int64_t samples);
  Call &take(Calls &calls);
  Call &nextSteps(int64_t samples, int64_t steps);
  static void gather(Call &call, int64_t step, const TrainData &data, std::span<const int64_t> indices);
  Call &finishCall();
};

/// Whether bytes of images become floats of 0 to 1: of all arrays that a step takes but the targets, which are last.
inline bool scalesBytes(size_t input, size_t inputs) { return input + 1 < inputs; }

} // namespace sprig::cli
