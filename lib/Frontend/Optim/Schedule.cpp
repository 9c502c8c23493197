#include "lib/Training/Schedule.h"
#include "lib/Frontend/Optim/OptimizerState.h"
#include "lib/Frontend/Record.h"
#include "lib/Training/ReadTrainConfig.h"

namespace sprig::optim {

using training::ScheduleKind;

Schedule Schedule::fromJson(const std::string &json, Source at) {
  const std::string place = placeOf(at, "optim::schedule");
  training::ScheduleConfig settings = training::parseSchedule(json, place);
  if (training::hasTotal(settings.kind) && settings.totalSteps == 0)
    badInput(place + ": lr_schedule.total_steps: not given, expected the length");
  return of(std::move(settings), at);
}

Schedule Schedule::of(training::ScheduleConfig settings, Source at) {
  const std::string place = placeOf(at, "optim::schedule");
  if (settings.kind == ScheduleKind::plateau)
    badInput(place + ": lr_schedule: 'plateau' follows from what is measured, and a schedule "
                     "from the step alone; optim::ReduceOnPlateau lowers rates");
  if (settings.perEpoch)
    badInput(place + ": lr_schedule.per: found \"epoch\", expected \"step\"; perEpoch() says "
                     "how many steps an epoch has");
  Schedule result;
  result.config = std::make_shared<const training::ScheduleConfig>(std::move(settings));
  return result;
}

const training::ScheduleConfig &Schedule::settings() const {
  static const training::ScheduleConfig kConstant;
  return config ? *config : kConstant;
}

std::string Schedule::json() const { return training::toJson(settings()); }

Schedule Schedule::perEpoch(int64_t stepsPerEpoch, Source at) const {
  if (stepsPerEpoch < 1)
    frontend::fail(at, "Schedule::perEpoch",
                   "an epoch of " + std::to_string(stepsPerEpoch) + " steps, expected at least 1");
  Schedule result = *this;
  result.unit = stepsPerEpoch;
  return result;
}

double Schedule::at(double lr, int64_t step) const { return training::lrAt(settings(), lr, step / unit); }

namespace schedule {

static Schedule checked(training::ScheduleConfig settings, Source at) {
  training::check(settings, placeOf(at, "optim::schedule"));
  return Schedule::of(std::move(settings), at);
}

Schedule step(int64_t stepSize, double gamma, Source at) {
  return checked({.kind = ScheduleKind::step, .stepSize = stepSize, .gamma = gamma}, at);
}
Schedule multiStep(const std::vector<int64_t> &milestones, double gamma, Source at) {
  return checked({.kind = ScheduleKind::multiStep, .milestones = milestones, .gamma = gamma}, at);
}
Schedule exponential(double gamma, Source at) {
  return checked({.kind = ScheduleKind::exponential, .gamma = gamma}, at);
}
Schedule linear(int64_t steps, double startFactor, double endFactor, Source at) {
  return checked(
      {.kind = ScheduleKind::linear, .totalSteps = steps, .startFactor = startFactor, .endFactor = endFactor}, at);
}
Schedule warmup(int64_t steps, Source at) { return checked({.kind = ScheduleKind::warmup, .warmupSteps = steps}, at); }
Schedule cosine(int64_t steps, double minLr, Source at) {
  return checked({.kind = ScheduleKind::cosine, .totalSteps = steps, .minLr = minLr}, at);
}
Schedule warmRestarts(int64_t period, int64_t periodFactor, double minLr, Source at) {
  return checked({.kind = ScheduleKind::warmRestarts, .minLr = minLr, .period = period, .periodFactor = periodFactor},
                 at);
}
Schedule warmupCosine(int64_t warmupSteps, int64_t steps, double minLr, Source at) {
  return checked({.kind = ScheduleKind::warmupCosine, .totalSteps = steps, .warmupSteps = warmupSteps, .minLr = minLr},
                 at);
}
Schedule oneCycle(double maxLr, int64_t steps, const OneCycleOptions &options, Source at) {
  return checked({.kind = ScheduleKind::oneCycle,
                  .totalSteps = steps,
                  .maxLr = maxLr,
                  .pctStart = options.pctStart,
                  .divFactor = options.divFactor,
                  .finalDivFactor = options.finalDivFactor,
                  .linearAnneal = options.linear},
                 at);
}
Schedule list(const std::vector<double> &rates, Source at) {
  return checked({.kind = ScheduleKind::list, .values = rates}, at);
}

} // namespace schedule

} // namespace sprig::optim
