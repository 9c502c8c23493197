// Rates that fall where a metric stays, in loops that measure it: the rule of `sprig train`'s schedule `plateau`.
#include "lib/Training/Plateau.h"
#include "lib/Frontend/Optim/OptimizerState.h"
#include "lib/Frontend/Record.h"
#include "lib/Training/ReadTrainConfig.h"
#include "lib/Training/StateNames.h"
#include "sprig/create.h"

namespace sprig::optim {

struct ReduceOnPlateau::State {
  Optimizer optimizer;
  training::ScheduleConfig settings;
  bool highest;
  Parameter numbers; ///< best, bad epochs, cooldown: an array of f64
};

training::ScheduleConfig scheduleOf(const PlateauOptions &o, const std::string &place) {
  training::ScheduleConfig settings{.kind = training::ScheduleKind::plateau,
                                    .minLr = o.minLr,
                                    .factor = o.factor,
                                    .threshold = o.threshold,
                                    .eps = o.eps,
                                    .absoluteThreshold = o.absoluteThreshold,
                                    .patience = o.patience,
                                    .cooldown = o.cooldown,
                                    .byAccuracy = o.highest};
  training::check(settings, place);
  return settings;
}

bool lowerRates(const Optimizer &optimizer, const training::ScheduleConfig &schedule, Source at) {
  bool fell = false;
  for (size_t group = 0; group < optimizer.groups(); ++group) {
    double before = optimizer.baseLr(group, at), rate = training::loweredRate(schedule, before);
    if (rate != before) optimizer.setLr(rate, group, at);
    fell |= rate != before;
  }
  return fell;
}

static Tensor tensorOf(const training::PlateauState &state) {
  return Tensor(std::vector<double>{state.best, double(state.badEpochs), double(state.cooldown)});
}

ReduceOnPlateau::ReduceOnPlateau(const Optimizer &optimizer, const PlateauOptions &options, Source at)
    : state(std::make_shared<State>()) {
  state->settings = scheduleOf(options, placeOf(at, "optim::ReduceOnPlateau"));
  if (optimizer.parameters().empty()) frontend::fail(at, "optim::ReduceOnPlateau", "the optimizer has no parameter");
  state->optimizer = optimizer;
  state->highest = options.highest;
  state->numbers = Parameter(tensorOf(training::beginPlateau(options.highest)), /*trainable=*/false, at);
  state->numbers.setName(training::kPlateau);
}

bool ReduceOnPlateau::step(double metric, Source at) const {
  frontend::requireNotRecording("ReduceOnPlateau::step", at);
  State &s = *state;
  const auto *kept = s.numbers.value().data<double>(at);
  training::PlateauState now = {kept[0], int64_t(kept[1]), int64_t(kept[2])};
  const bool falls = training::takeMetric(s.settings, s.highest, now, metric);
  s.numbers.set(tensorOf(now), at);
  return falls && lowerRates(s.optimizer, s.settings, at);
}

double ReduceOnPlateau::best(Source at) const { return state->numbers.value().data<double>(at)[0]; }

std::vector<std::pair<std::string, Parameter>> ReduceOnPlateau::namedState() const {
  return {{state->numbers.name(), state->numbers}};
}

nn::StateDict ReduceOnPlateau::stateDict() const { return valuesOf(namedState()); }

void ReduceOnPlateau::loadStateDict(const nn::StateDict &given, Source at) const {
  loadNamed(namedState(), given, "optim::ReduceOnPlateau", at);
}

} // namespace sprig::optim
