// Where a training run's time went: waiting for data, computing, and elsewhere (evaluations, checkpoints, metrics,
// progress), by epoch.
// For the training loop and what reports on it. What to make of it is said by lib/Machine/Verdict, as for profiles.
#pragma once
#include "lib/TrainLoop/StepRunner.h"

namespace sprig::training {

struct TimeSplit {
  int64_t steps = 0;
  double seconds = 0, waiting = 0, computing = 0; ///< the first is all of it
  double elsewhere() const { return seconds - waiting - computing; }
};

class RunTime {
public:
  /// Of an epoch and those after it that were only begun.
  struct Epoch : TimeSplit {
    int64_t number = 0;
  };

  void add(int64_t epoch, const StepResult &step);
  /// The run's end.
  void end(Clock::time_point now);

  const TimeSplit &total() const { return all; }
  /// The last ones, kMostEpochs at most.
  const std::vector<Epoch> &epochs() const { return last; }
  static constexpr size_t kMostEpochs = 100;

private:
  TimeSplit all;
  std::vector<Epoch> last;
  Clock::time_point epochBegan;

  void endEpoch(Clock::time_point now);
};

} // namespace sprig::training
