// What a person sees of a training run: a line that is renewed on a terminal, a few plain lines elsewhere.
// For `sprig train`. Goes to standard error; quiet says nothing.
#pragma once
#include "lib/Training/Metrics.h"
#include <chrono>
#include <string>

namespace sprig::cli {

class TrainProgress {
public:
  /// What an epoch and one of its steps take; the last one may be shorter.
  struct Epoch {
    int64_t steps, samples, samplesPerStep;
  };
  /// Steps of the run; those done before, when it is gone on with; steps between lines that stay, 0 for an epoch, or a
  /// tenth of a run of one epoch.
  TrainProgress(int64_t steps, const Epoch &epoch, int64_t done, int64_t every);

  /// After a step. Cheap: most calls only count.
  void step(const training::StepMetrics &metrics);
  /// Ends the renewed line.
  void finish();

  /// Samples of this process's steps over the time since the first.
  double samplesPerSecond() const;

private:
  using Clock = std::chrono::steady_clock;
  int64_t steps;
  Epoch epoch;
  int64_t first, done, every;
  bool terminal, quiet, lineOpen = false;
  Clock::time_point start, shown;
  // Over the steps since the last line that stayed.
  double averageLoss = 0, waited = 0;
  double since = -1; ///< seconds of the run that it was at
  int64_t averaged = 0;

  int64_t samplesUpTo(int64_t step) const;
  void show(const training::StepMetrics &metrics, bool lasting);
};

/// "1:23:45", "2:07", "12 s"
std::string formatDuration(double seconds);

} // namespace sprig::cli
