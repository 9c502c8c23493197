// Runs of one network at several learning rates, and which rate is the best.
// For bench sweep rates.
#pragma once
#include "tools/sprig/bench/Experiment.h"
#include "tools/sprig/bench/SweptTraining.h"
#include <limits>
#include <vector>

namespace sprig::cli {

/// Runs of one batch and rate, one for each seed.
struct RateRuns {
  double rate = 0;
  std::vector<const SweptRun *> runs;

  static double accuracyOf(const SweptRun &run) { return *run.outcome->evaluation->accuracy; }
  static double lossOf(const SweptRun &run) { return run.outcome->epochLoss; }
  /// The first run that diverged; null: none has.
  const SweptRun *diverged() const;
  /// Over seeds, of which none has diverged.
  double mean(double (*valueOf)(const SweptRun &)) const;
  double accuracy() const { return mean(accuracyOf); }
  /// The standard deviation of accuracies over seeds.
  double spread() const;
};
/// Over rates, of one batch.
using RateCurve = std::vector<RateRuns>;

/// The rate whose runs are the most often right, of those from the first bound on and below the second; null: all have
/// diverged.
const RateRuns *bestRateOf(const RateCurve &curve, double from = 0,
                           double below = std::numeric_limits<double>::infinity());

/// Whether the best rate falls from the first curve's batch to the last one's, by more than chance. No verdict where
/// there are too few seeds to tell.
void judgeRates(const std::vector<RateCurve> &curves, ExperimentReport &report);

} // namespace sprig::cli
