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
  size_t groups;
  training::ScheduleConfig settings;
  bool highest;
  Parameter numbers; ///< best, bad epochs, cooldown: an array of f64
};

static training::ScheduleConfig checkedSchedule(const PlateauOptions &o, const std::string &place) {
  training::ScheduleConfig settings{.kind = training::ScheduleKind::plateau,
                                    .minLr = o.minLr,
                                    .factor = o.factor,
                                    .threshold = o.threshold,
                                    .eps = o.eps,
                                    .absoluteThreshold = o.absoluteThreshold,
                                    .patience = o.patience,
                                    .cooldown = o.cooldown};
  training::check(settings, place);
  return settings;
}

static Tensor tensorOf(const training::PlateauState &state) {
  return Tensor(std::vector<double>{state.best, double(state.badEpochs), double(state.cooldown)});
}

ReduceOnPlateau::ReduceOnPlateau(const Optimizer &optimizer, const PlateauOptions &options, Source at)
    : state(std::make_shared<State>()) {
  state->settings = checkedSchedule(options, placeOf(at, "optim::ReduceOnPlateau"));
  if (optimizer.parameters().empty()) frontend::fail(at, "optim::ReduceOnPlateau", "the optimizer has no parameter");
  state->optimizer = optimizer;
  state->groups = optimizer.groups();
  state->highest = options.highest;
  state->numbers = Parameter(tensorOf(training::beginPlateau(options.highest)), /*trainable=*/false, at);
  state->numbers.setName(training::kPlateau);
}

bool ReduceOnPlateau::step(double metric, Source at) const {
  frontend::requireNotRecording("ReduceOnPlateau::step", at);
  State &s = *state;
  const auto *kept = s.numbers.value().data<double>(at);
  training::PlateauState now = {kept[0], int64_t(kept[1]), int64_t(kept[2])};
  bool falls = training::takeMetric(s.settings, s.highest, now, metric), fell = false;
  s.numbers.set(tensorOf(now), at);
  for (size_t group = 0; falls && group < s.groups; ++group) {
    double before = s.optimizer.baseLr(group, at), rate = training::loweredRate(s.settings, before);
    if (rate != before) s.optimizer.setLr(rate, group, at);
    fell |= rate != before;
  }
  return fell;
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
