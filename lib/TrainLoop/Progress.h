// What a person sees of a training run: a line that is renewed on a terminal, a few plain lines elsewhere.
// An observer of the training loop. Goes to standard error.
#pragma once
#include "lib/TrainLoop/BatchSource.h"
#include "lib/TrainLoop/LoopObserver.h"

namespace sprig::training {

class Progress final : public LoopObserver {
public:
  /// The steps of the run. `every`: steps between lines that stay; 0: an epoch, or a tenth of a run of one epoch; none:
  /// no line stays.
  Progress(int64_t steps, const BatchSource::Epoch &epoch, std::optional<int64_t> every);
  ~Progress() override { onEnd(); }

  /// Cheap: most calls only count.
  void onStep(const StepMetrics &line) override;
  /// Ends the renewed line.
  void onEnd() override;
  void onWarning(const std::string &) override { onEnd(); }

private:
  int64_t steps;
  BatchSource::Epoch epoch;
  int64_t first = -1, done = 0;
  std::optional<int64_t> every;
  bool terminal, lineOpen = false;
  Clock::time_point start, shown;
  // Over the steps since the last line that stayed.
  double averageLoss = 0, waited = 0;
  double since = -1; ///< seconds of the run that it was at
  int64_t averaged = 0;

  void show(const StepMetrics &metrics, bool lasting);
};

/// "1:23:45", "2:07", "12 s"
std::string formatDuration(double seconds);

} // namespace sprig::training
