#include "lib/Frontend/Optim/OptimizerState.h"
#include "lib/Frontend/Record.h"
#include "lib/Training/ReadTrainConfig.h"
#include "lib/Training/Schedule.h"
#include <nlohmann/json.hpp>

namespace sprig::optim {

using Json = nlohmann::ordered_json;

static training::TrainConfig configOf(const std::string &json, const std::string &place) {
  return training::parseTrainConfig(
      R"({"loss": "mse", "batch": 1, "steps": 1, "optimizer": {"name": "sgd", "lr": 1}, "lr_schedule": )" + json + "}",
      place);
}

Schedule Schedule::fromJson(const std::string &json, Source at) {
  using training::ScheduleKind;
  std::string place = placeOf(at, "optim::schedule");
  training::ScheduleConfig config = configOf(json, place).schedule;
  if (config.kind == ScheduleKind::plateau)
    badInput(place + ": lr_schedule: 'plateau' follows from what is measured, and a schedule "
                     "from the step alone; optim::ReduceOnPlateau lowers rates");
  if (config.perEpoch)
    badInput(place + ": lr_schedule.per: found \"epoch\", expected \"step\"; perEpoch() says "
                     "how many steps an epoch has");
  bool wantsTotal = config.kind == ScheduleKind::linear || config.kind == ScheduleKind::cosine ||
                    config.kind == ScheduleKind::warmupCosine || config.kind == ScheduleKind::oneCycle;
  if (wantsTotal && config.totalSteps == 0)
    badInput(place + ": lr_schedule.total_steps: not given, expected the length");
  Schedule result;
  result.text = json;
  return result;
}

Schedule Schedule::perEpoch(int64_t stepsPerEpoch, Source at) const {
  if (stepsPerEpoch < 1)
    frontend::fail(at, "Schedule::perEpoch",
                   "an epoch of " + std::to_string(stepsPerEpoch) + " steps, expected at least 1");
  Schedule result = *this;
  result.unit = stepsPerEpoch;
  return result;
}

double Schedule::at(double lr, int64_t step) const {
  return training::lrAt(configOf(text, "optim::schedule").schedule, lr, step / unit);
}

namespace schedule {

Schedule step(int64_t stepSize, double gamma, Source at) {
  return Schedule::fromJson(Json{{"name", "step"}, {"step_size", stepSize}, {"gamma", gamma}}.dump(), at);
}
Schedule multiStep(const std::vector<int64_t> &milestones, double gamma, Source at) {
  return Schedule::fromJson(Json{{"name", "multi_step"}, {"milestones", milestones}, {"gamma", gamma}}.dump(), at);
}
Schedule exponential(double gamma, Source at) {
  return Schedule::fromJson(Json{{"name", "exponential"}, {"gamma", gamma}}.dump(), at);
}
Schedule linear(int64_t steps, double startFactor, double endFactor, Source at) {
  return Schedule::fromJson(
      Json{{"name", "linear"}, {"total_steps", steps}, {"start_factor", startFactor}, {"end_factor", endFactor}}.dump(),
      at);
}
Schedule warmup(int64_t steps, Source at) {
  return Schedule::fromJson(Json{{"name", "warmup"}, {"warmup_steps", steps}}.dump(), at);
}
Schedule cosine(int64_t steps, double minLr, Source at) {
  return Schedule::fromJson(Json{{"name", "cosine"}, {"total_steps", steps}, {"min_lr", minLr}}.dump(), at);
}
Schedule warmRestarts(int64_t period, int64_t periodFactor, double minLr, Source at) {
  return Schedule::fromJson(
      Json{{"name", "warm_restarts"}, {"period", period}, {"period_factor", periodFactor}, {"min_lr", minLr}}.dump(),
      at);
}
Schedule warmupCosine(int64_t warmupSteps, int64_t steps, double minLr, Source at) {
  return Schedule::fromJson(
      Json{{"name", "warmup_cosine"}, {"warmup_steps", warmupSteps}, {"total_steps", steps}, {"min_lr", minLr}}.dump(),
      at);
}
Schedule oneCycle(double maxLr, int64_t steps, const OneCycleOptions &options, Source at) {
  return Schedule::fromJson(Json{{"name", "one_cycle"},
                                 {"max_lr", maxLr},
                                 {"total_steps", steps},
                                 {"pct_start", options.pctStart},
                                 {"div_factor", options.divFactor},
                                 {"final_div_factor", options.finalDivFactor},
                                 {"anneal", options.linear ? "linear" : "cos"}}
                                .dump(),
                            at);
}
Schedule list(const std::vector<double> &rates, Source at) {
  return Schedule::fromJson(Json{{"name", "list"}, {"values", rates}}.dump(), at);
}

} // namespace schedule

} // namespace sprig::optim
