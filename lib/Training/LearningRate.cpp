#include "lib/Training/LearningRate.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNUnary.h"
#include "lib/Training/Schedule.h"
#include <numbers>

using namespace mlir;

namespace sprig::training {
namespace {

using ir::ComparePredicate;

/// Short ways to write scalars of f64.
struct Scalars {
  ir::Expression &e;
  Value base; // any f64 scalar, as a model for constants
  Value number(double value) { return e.splat(base, value); }
  Value add(Value x, double y) { return e.add(x, number(y)); }
  Value mul(Value x, double y) { return e.mul(x, number(y)); }
  Value div(Value x, double y) { return e.div(x, number(y)); }
  Value min(Value x, double y) { return e.binary<ir::MinOp>(x, number(y)); }
  Value power(double x, Value y) { return e.binary<ir::PowOp>(number(x), y); }
  Value choose(ComparePredicate predicate, Value x, double y, Value then, Value otherwise) {
    return e.select(e.compare(predicate, x, number(y)), then, otherwise);
  }

  /// From `start` (share 0) to `end` (share 1), by a cosine or a line.
  Value anneal(Value start, Value end, Value share, bool linear) {
    if (linear) return e.add(start, e.mul(e.sub(end, start), share));
    Value wave = add(e.unary<ir::CosOp>(mul(share, std::numbers::pi)), 1);
    return e.add(end, e.mul(div(e.sub(start, end), 2), wave));
  }
};

Value oneCycle(Scalars s, const ScheduleConfig &schedule, Value t) {
  Value peak = schedule.maxLr > 0 ? s.number(schedule.maxLr) : s.base;
  Value first = s.div(peak, schedule.divFactor), last = s.div(first, schedule.finalDivFactor);
  double riseEnd = schedule.pctStart * double(schedule.totalSteps) - 1, end = double(schedule.totalSteps) - 1;
  Value rise = riseEnd > 0 ? s.anneal(first, peak, s.div(t, riseEnd), schedule.linearAnneal) : peak;
  Value fall = s.anneal(peak, last, s.div(s.add(t, -riseEnd), end - riseEnd), schedule.linearAnneal);
  return s.choose(ComparePredicate::le, t, riseEnd, rise, s.choose(ComparePredicate::ge, t, end, last, fall));
}

// The share of the cycle that `index` is in which is over. Times are integers, so that each cycle begins at its step.
Value shareOfCycle(Scalars s, const ScheduleConfig &schedule, Value index) {
  ir::Expression &e = s.e;
  auto real = [&](Value value) { return e.cast(value, e.b.getF64Type()); };
  if (schedule.periodFactor == 1) {
    Value period = e.splat(index, double(schedule.period));
    return s.div(real(e.sub(index, e.mul(e.div(index, period), period))), double(schedule.period));
  }
  Cycles cycles = cyclesOf(schedule);
  auto table = [&](const std::vector<int64_t> &times) {
    return e.constant({int64_t(times.size())}, e.b.getF64Type(), SmallVector<double>(times.begin(), times.end()));
  };
  Value starts = table(cycles.starts), t = real(index);
  Value begun = e.cast(e.compare(ir::ComparePredicate::ge, t, starts), e.b.getI64Type());
  Value number = e.sub(e.sumOfAll(begun), e.splat(index, 1));
  auto at = [&](Value of) { return ir::GatherOp::create(e.b, e.loc, of, number, 0); };
  return e.div(e.sub(t, at(starts)), at(table(cycles.lengths)));
}

} // namespace

Value learningRate(ir::Expression &e, const ScheduleConfig &schedule, Value base, Value step) {
  Scalars s{e, base};
  Value index =
      schedule.perEpoch ? e.div(step, e.splat(step, double(std::max<int64_t>(schedule.stepsPerUnit, 1)))) : step;
  Value t = e.cast(index, e.b.getF64Type());
  double total = double(schedule.totalSteps), warm = double(schedule.warmupSteps);
  auto warmup = [&](Value behind) {
    return s.choose(ComparePredicate::lt, t, warm, s.div(e.mul(base, s.add(t, 1)), warm), behind);
  };
  switch (schedule.kind) {
  case ScheduleKind::constant:
  case ScheduleKind::plateau: return base; // which falls
  case ScheduleKind::step:
    return e.mul(base, s.power(schedule.gamma,
                               e.cast(e.div(index, e.splat(index, double(schedule.stepSize))), e.b.getF64Type())));
  case ScheduleKind::multiStep: {
    Value passed = s.number(0);
    for (int64_t milestone : schedule.milestones)
      passed = e.add(passed, s.choose(ComparePredicate::ge, t, double(milestone), s.number(1), s.number(0)));
    return e.mul(base, s.power(schedule.gamma, passed));
  }
  case ScheduleKind::exponential: return e.mul(base, s.power(schedule.gamma, t));
  case ScheduleKind::linear: {
    Value share = s.div(s.min(t, total), total);
    return e.mul(base, s.add(s.mul(share, schedule.endFactor - schedule.startFactor), schedule.startFactor));
  }
  case ScheduleKind::warmup: return warmup(base);
  case ScheduleKind::cosine: return s.anneal(base, s.number(schedule.minLr), s.min(s.div(t, total), 1), false);
  case ScheduleKind::warmRestarts:
    return s.anneal(base, s.number(schedule.minLr), shareOfCycle(s, schedule, index), false);
  case ScheduleKind::warmupCosine: {
    Value share = s.min(s.div(s.add(t, -warm), total - warm), 1);
    return warmup(s.anneal(base, s.number(schedule.minLr), share, false));
  }
  case ScheduleKind::oneCycle: return oneCycle(s, schedule, t);
  case ScheduleKind::list: {
    Value values = e.constant({int64_t(schedule.values.size())}, e.b.getF64Type(), schedule.values);
    Value at = e.binary<ir::MinOp>(index, e.splat(index, double(schedule.values.size() - 1)));
    return ir::GatherOp::create(e.b, e.loc, values, at, 0);
  }
  }
  return base;
}

} // namespace sprig::training
