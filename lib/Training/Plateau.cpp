#include "lib/Training/Plateau.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace sprig::training {

static bool isBetter(const ScheduleConfig &s, bool highest, double metric, double best) {
  if (std::isinf(best)) return highest ? metric > best : metric < best; // there is no share of it
  if (highest) return metric > (s.absoluteThreshold ? best + s.threshold : best * (1 + s.threshold));
  return metric < (s.absoluteThreshold ? best - s.threshold : best * (1 - s.threshold));
}

PlateauState beginPlateau(bool highest) {
  double most = std::numeric_limits<double>::infinity();
  return {highest ? -most : most};
}

bool takeMetric(const ScheduleConfig &schedule, bool highest, PlateauState &state, double metric) {
  if (isBetter(schedule, highest, metric, state.best)) {
    state.best = metric;
    state.badEpochs = 0;
  } else {
    ++state.badEpochs;
  }
  if (state.cooldown > 0) {
    --state.cooldown;
    state.badEpochs = 0;
  }
  if (state.badEpochs <= schedule.patience) return false;
  state.cooldown = schedule.cooldown;
  state.badEpochs = 0;
  return true;
}

double loweredRate(const ScheduleConfig &schedule, double rate) {
  double lowered = std::max(rate * schedule.factor, schedule.minLr);
  return rate - lowered > schedule.eps ? lowered : rate;
}

} // namespace sprig::training
