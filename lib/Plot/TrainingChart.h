// The two charts of training: a run's curves, and what a sweep over settings found.
// For `sprig train --plot`. The folder knows nothing of the rest; values are columns.
#pragma once
#include "lib/Plot/Chart.h"

namespace sprig::plot {

/// Columns of equal length but for the evaluations, which have steps of their own.
struct TrainingRun {
  std::string title, subtitle;
  std::vector<double> steps, loss, lr;
  std::vector<double> evalSteps, evalLoss, evalAccuracy; ///< empty without evaluation
};

/// Loss (raw and smooth, beside the evaluation's), accuracy where there is one, learning rate where it changes.
Chart trainingChart(const TrainingRun &run);

struct SweepPoint {
  std::string setting; ///< "lr=0.1", as people read it
  double value = 0;    ///< where `Sweep::numeric`
  double measured = 0, seconds = 0;
};
struct Sweep {
  std::string title, subtitle, parameter;
  bool numeric = false;             ///< the settings are numbers, in any order
  std::string measure = "accuracy"; ///< what the left axis is of: "accuracy", as a share, or "loss"
  std::vector<SweepPoint> points;
};

/// What was measured on the left axis, time on the right, over the settings.
Chart sweepChart(const Sweep &sweep);

} // namespace sprig::plot
