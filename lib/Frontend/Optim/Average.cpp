// Moving averages of parameters, as `sprig train` computes them.
#include "lib/Frontend/Optim/OptimizerState.h"
#include "lib/Frontend/Record.h"
#include "lib/Training/StateNames.h"
#include "sprig/elementwise.h"
#include "sprig/grad.h"

namespace sprig::optim {

struct Average::State {
  std::vector<Parameter> parameters, averages;
  double decay = 0;
  Parameter updates; ///< of a mean: an i64 scalar
  Belonging belonging;

  State(const Parameters &given, Source where);
};

Average::State::State(const Parameters &given, Source where) : belonging(given) {
  for (const Group &group : given.groups)
    for (const Parameter &parameter : group.parameters) parameters.push_back(parameter);
  std::vector<std::string> names = stateNames(parameters);
  for (size_t i = 0; i < names.size(); ++i) {
    averages.emplace_back(parameters[i].value().detach(where), /*trainable=*/false, where);
    averages.back().setName(training::averageName(names[i]));
  }
}

Average::Average(const Parameters &given, double decay, Source where) {
  if (!(decay >= 0 && decay < 1))
    frontend::fail(where, "optim::Average", "the decay is " + frontend::realText(decay) + ", outside of [0, 1)");
  state = std::make_shared<State>(given, where);
  state->decay = decay;
}

Average Average::mean(const Parameters &given, Source where) {
  Average result;
  result.state = std::make_shared<State>(given, where);
  result.state->updates = Parameter(Tensor(int64_t(0)), /*trainable=*/false, where);
  result.state->updates.setName(training::averageName("updates"));
  return result;
}

void Average::update(Source where) const {
  state->belonging.check(state->parameters, "Average::update", where);
  NoGrad quiet;
  for (size_t i = 0; i < state->parameters.size(); ++i)
    frontend::follow(state->averages[i], state->parameters[i], where);
  if (state->updates.defined()) {
    Tensor count = add(Operand(state->updates.value(), where), 1);
    state->updates.set(count, where);
    for (size_t i = 0; i < state->parameters.size(); ++i) {
      const Parameter &average = state->averages[i];
      Tensor old = average.value(), change = sub(Operand(state->parameters[i].value(), where), Operand(old, where));
      // Half types do not hold every count.
      const DType type = old.dtype(), wide = size(type) < 4 ? DType::f32 : type;
      Tensor part =
          div(Operand(cast(Operand(change, where), wide), where), Operand(cast(Operand(count, where), wide), where));
      average.set(add(Operand(old, where), Operand(cast(Operand(part, where), type), where)), where);
    }
    return;
  }
  for (size_t i = 0; i < state->parameters.size(); ++i) {
    const Parameter &average = state->averages[i];
    Tensor kept = mul(Operand(average.value(), where), state->decay);
    Tensor share = mul(Operand(state->parameters[i].value(), where), 1 - state->decay);
    average.set(add(Operand(kept, where), Operand(share, where)), where);
  }
}

void Average::swap(Source where) const {
  state->belonging.check(state->parameters, "Average::swap", where);
  NoGrad quiet;
  for (size_t i = 0; i < state->parameters.size(); ++i) {
    Tensor parameter = state->parameters[i].value().detach(where), average = state->averages[i].value();
    state->parameters[i].set(average, where);
    state->averages[i].set(parameter, where);
  }
}

std::vector<std::pair<std::string, Parameter>> Average::namedState() const {
  std::vector<std::pair<std::string, Parameter>> result;
  for (const Parameter &average : state->averages) result.emplace_back(average.name(), average);
  if (state->updates.defined()) result.emplace_back(state->updates.name(), state->updates);
  return result;
}

nn::StateDict Average::stateDict() const { return valuesOf(namedState()); }

void Average::loadStateDict(const nn::StateDict &given, Source where) const {
  loadNamed(namedState(), given, "optim::Average", where);
}

} // namespace sprig::optim
