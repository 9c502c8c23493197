// What is told of a training run while it goes on: metrics, charts, progress, callbacks.
// For the training loop and its two doors.
#pragma once
#include "lib/TrainLoop/Metrics.h"
#include "lib/TrainLoop/StepRunner.h"

namespace sprig::training {

/// Of an epoch that is at its end, or that the run ends within.
struct EpochSummary {
  int64_t number = 0;                     ///< from 0
  int64_t steps = 0;                      ///< done in all
  double loss = 0;                        ///< mean over its samples
  NamedNumbers metrics = {};              ///< means of the steps' own; of the evaluation's, those with "eval_" in front
  int64_t samples = 0;                    ///< that this run took of it
  double seconds = 0;                     ///< of its steps, without the evaluation
  double lr = 0;                          ///< of the next step
  const Evaluation *evaluation = nullptr; ///< that followed it; null: none
};

class LoopObserver {
public:
  virtual ~LoopObserver() = default;

  /// In their order; the line has the evaluation that followed the step.
  virtual void onStep(const StepMetrics &) {}
  /// Whether the run goes on. Of ranks the first one's answer counts.
  virtual bool onEpoch(const EpochSummary &) { return true; }
  /// Before a checkpoint is written: a run that goes on from it needs what was told up to there.
  virtual void onCheckpoint() {}
  virtual void onWarning(const std::string &) {}
  /// Behind the last step, also before an error of the run is thrown.
  virtual void onEnd() {}

  /// Numbers that a resumed run's observer goes on from; each gives and gets as many.
  virtual std::vector<double> state() const { return {}; }
  virtual void restore(std::span<const double>) {}
};

/// The lines of a run, those of the run before included.
class RunHistory final : public LoopObserver {
public:
  explicit RunHistory(std::vector<StepMetrics> earlier = {}) : lines(std::move(earlier)) {}
  void onStep(const StepMetrics &line) override { lines.push_back(line); }
  std::vector<StepMetrics> lines;
};

} // namespace sprig::training
