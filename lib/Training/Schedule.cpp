#include "lib/Training/Schedule.h"
#include <algorithm>
#include <cassert>
#include <cmath>
#include <numbers>

namespace sprig::training {
namespace {

// From `start` (share 0) to `end` (share 1).
double anneal(double start, double end, double share, bool linear) {
  return linear ? start + (end - start) * share : end + (start - end) / 2 * (1 + std::cos(std::numbers::pi * share));
}

double oneCycleAt(const ScheduleConfig &s, double baseLr, double t) {
  double peak = s.maxLr > 0 ? s.maxLr : baseLr;
  double first = peak / s.divFactor, last = first / s.finalDivFactor;
  // As in PyTorch, the rise ends between two steps when pct_start says so, and the last step has the last rate.
  double riseEnd = s.pctStart * double(s.totalSteps) - 1, end = double(s.totalSteps) - 1;
  if (t <= riseEnd) return riseEnd > 0 ? anneal(first, peak, t / riseEnd, s.linearAnneal) : peak;
  if (t >= end) return last;
  return anneal(peak, last, (t - riseEnd) / (end - riseEnd), s.linearAnneal);
}

// SGDR (arXiv:1608.03983): the share of the cycle that t is in which is over.
double shareOfCycleAt(const ScheduleConfig &s, int64_t t) {
  if (s.periodFactor == 1) return double(t % s.period) / double(s.period);
  Cycles cycles = cyclesOf(s);
  size_t at = size_t(std::upper_bound(cycles.starts.begin(), cycles.starts.end(), t) - cycles.starts.begin()) - 1;
  return double(t - cycles.starts[at]) / double(cycles.lengths[at]);
}

} // namespace

Cycles cyclesOf(const ScheduleConfig &schedule) {
  assert(schedule.periodFactor > 1 && "there is no end of cycles of one length");
  constexpr int64_t kLast = int64_t(1) << 53; // what counts of steps may be
  Cycles cycles;
  int64_t start = 0, length = schedule.period;
  while (start <= kLast) {
    cycles.starts.push_back(start);
    cycles.lengths.push_back(length);
    if (__builtin_add_overflow(start, length, &start)) break;
    if (__builtin_mul_overflow(length, schedule.periodFactor, &length)) length = INT64_MAX;
  }
  return cycles;
}

double lrAt(const ScheduleConfig &s, double baseLr, int64_t step) {
  int64_t t = s.perEpoch ? step / std::max<int64_t>(s.stepsPerUnit, 1) : step;
  double total = double(s.totalSteps), time = double(t);
  switch (s.kind) {
  case ScheduleKind::constant:
  case ScheduleKind::plateau: return baseLr; // which falls
  case ScheduleKind::step: return baseLr * std::pow(s.gamma, double(t / s.stepSize));
  case ScheduleKind::multiStep: {
    auto passed = std::upper_bound(s.milestones.begin(), s.milestones.end(), t) - s.milestones.begin();
    return baseLr * std::pow(s.gamma, double(passed));
  }
  case ScheduleKind::exponential: return baseLr * std::pow(s.gamma, time);
  case ScheduleKind::linear:
    return baseLr * (s.startFactor + (s.endFactor - s.startFactor) * std::min(time, total) / total);
  case ScheduleKind::warmup: return t < s.warmupSteps ? baseLr * (time + 1) / double(s.warmupSteps) : baseLr;
  case ScheduleKind::cosine: return anneal(baseLr, s.minLr, std::min(time / total, 1.0), false);
  case ScheduleKind::warmRestarts: return anneal(baseLr, s.minLr, shareOfCycleAt(s, t), false);
  case ScheduleKind::warmupCosine:
    if (t < s.warmupSteps) return baseLr * (time + 1) / double(s.warmupSteps);
    return anneal(baseLr, s.minLr, std::min((time - double(s.warmupSteps)) / (total - double(s.warmupSteps)), 1.0),
                  false);
  case ScheduleKind::oneCycle: return oneCycleAt(s, baseLr, time);
  case ScheduleKind::list: return s.values[size_t(std::min<int64_t>(t, int64_t(s.values.size()) - 1))];
  }
  return baseLr;
}

double rateFactor(RateRule rule, double factor) {
  return rule == RateRule::linear ? factor : rule == RateRule::sqrt ? std::sqrt(factor) : 1;
}

// Groups have theirs as factors of the optimizer's.
void scaleRates(TrainConfig &config, double by) {
  config.optimizer.lr *= by;
  config.schedule.minLr *= by;
  config.schedule.maxLr *= by;
  for (double &rate : config.schedule.values) rate *= by;
}

} // namespace sprig::training
