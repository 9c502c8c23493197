// When a learning rate falls because a metric stays where it is (schedule `plateau`): PyTorch's ReduceLROnPlateau.
// For what measures at the end of epochs: `sprig train`, the trainer and loops of programs. Knows no compiler.
#pragma once
#include "lib/Training/TrainConfig.h"

namespace sprig::training {

/// What is kept from one measurement to the next.
struct PlateauState {
  double best; ///< infinite before the first
  int64_t badEpochs = 0, cooldown = 0;
};

/// Of a schedule of kind plateau, before anything was measured. `highest`: whether the metric is best where it is
/// highest.
PlateauState beginPlateau(bool highest);
/// Takes an epoch's metric; whether the rate is to fall now. What is not a number is no improvement.
bool takeMetric(const ScheduleConfig &schedule, bool highest, PlateauState &state, double metric);
/// What the rate falls to; the same where that is a smaller step than `eps`.
double loweredRate(const ScheduleConfig &schedule, double rate);

} // namespace sprig::training
