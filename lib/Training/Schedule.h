// The learning rate of each step in double precision: the reference that compiled schedules are tested against.
// For `sprig train` and tests. Definitions are PyTorch's, as docs/training.md states them.
#pragma once
#include "lib/Training/TrainConfig.h"

namespace sprig::training {

/// The schedule's learning rate at step 0, 1, ... of a run with this base rate.
double lrAt(const ScheduleConfig &schedule, double baseLr, int64_t step);
inline double lrAt(const TrainConfig &config, int64_t step) { return lrAt(config.schedule, config.optimizer.lr, step); }

/// The cycles of warm restarts that grow (periodFactor above 1), up to the last time that is counted: where each
/// begins, and its length.
struct Cycles {
  std::vector<int64_t> starts, lengths;
};
Cycles cyclesOf(const ScheduleConfig &schedule);

/// Rates for a batch `factor` times as large: the optimizer's and those that the schedule names itself. By rule linear
/// they are `factor` times as high, by sqrt its root.
enum class RateRule : uint8_t { none, linear, sqrt };
double rateFactor(RateRule rule, double factor);
void scaleRates(TrainConfig &config, double by);

} // namespace sprig::training
