// A loaded training program with its state: steps and evaluations on samples, state as arrays.
// For `sprig train`. Knows no compiler: the package may come from a file. One thread at a time.
#pragma once
#include "lib/Checkpoint/Checkpoint.h"
#include "lib/Data/Samples.h"
#include "sprig/data/loader.h"
#include "tools/sprig/run/Runner.h"
#include <chrono>
#include <functional>

namespace sprig::cli {

/// Where the samples of a program's inputs and targets come from; counts agree.
struct TrainData {
  std::vector<data::Samples> inputs; ///< in the order of the program's inputs
  std::optional<data::Samples> targets;
  int64_t count() const { return inputs.empty() ? 0 : inputs.front().count(); }
};

struct StepResult {
  using Clock = std::chrono::steady_clock;
  float loss = 0;
  float gradNorm = 0; ///< NaN where the program does not compute it
  /// From when it wanted its samples, had them, and was done.
  Clock::time_point begin, ready, end;
};
struct EvaluationResult {
  double lossSum = 0;
  int64_t samples = 0, correct = 0, counted = 0; ///< counted: predictions that can be right or wrong
  double loss() const { return lossSum / double(samples); }
  double accuracy() const { return double(correct) / double(counted); }
};

class TrainProgram {
public:
  explicit TrainProgram(Runner runner);

  /// Numbers of samples that it has entries for.
  std::vector<int64_t> stepSizes() const;
  std::vector<int64_t> evaluationSizes() const;
  /// Interface of one step: inputs, then targets; without the first dimension.
  const std::vector<TensorSpec> &inputs() const { return interface; }

  /// One step on the samples of these indices, of which there must be an entry for. Allocates nothing.
  StepResult step(const TrainData &data, std::span<const int64_t> indices);
  /// The same on a batch that lies in memory: inputs, then targets, as inputs() says. It began to wait for it at
  /// `begin`.
  StepResult step(const data::Batch &batch, StepResult::Clock::time_point begin);
  /// All samples, in their order, in parts of the sizes there are.
  EvaluationResult evaluate(const TrainData &data);

  /// The state as it is between two steps; the bytes are the program's own, or a copy where those are not the host's.
  std::vector<checkpoint::ArrayView> state() const;
  /// Takes over a state of the same names, types and shapes; badInput names what differs.
  void restore(std::span<const data::Array> arrays);
  /// The model's own arrays, not the optimizer's; of weights that have a moving average, that.
  std::vector<data::Array> parameters() const;

  /// Sets the learning rate that the schedule starts from and the key of random numbers, which are state.
  void start(double lr, uint64_t seed);

  uint64_t stateBytes() const;
  const Runner &loaded() const { return runner; }
  int threads() const { return runner.threads(); }

private:
  // An entry with its buffers in place.
  struct Call {
    int32_t entry = 0;
    int64_t samples = 0;
    std::vector<data::Intake> intakes;
    std::vector<TensorSpec> specs;
    std::vector<std::shared_ptr<void>> inputs;
    std::vector<sprig_rt_tensor> inputViews, outputViews;
    float loss = 0, norm = 0;
    int64_t correct = 0, counted = 0;
  };

  Runner runner;
  mutable std::vector<std::vector<char>> mirror; ///< of states that lie on devices with memory of their own
  std::vector<TensorSpec> interface;
  std::vector<std::unique_ptr<Call>> steps, evaluations;

  const void *stateOnHost(uint32_t index, uint64_t bytes) const;
  std::unique_ptr<Call> prepare(uint32_t entry, bool evaluation);
  static Call &ofSize(std::vector<std::unique_ptr<Call>> &calls, int64_t samples);
  void gather(Call &call, const TrainData &data, std::span<const int64_t> indices);
  void invoke(Call &call);
  StepResult stepOf(Call &call, StepResult::Clock::time_point begin);
};

/// Whether bytes of images become floats of 0 to 1: of all arrays that a step takes but the targets, which are last.
inline bool scalesBytes(size_t input, size_t inputs) { return input + 1 < inputs; }

} // namespace sprig::cli
