// Moving averages of parameters, as `sprig train` computes them.
#include "lib/Frontend/Optim/OptimizerState.h"
#include "lib/Frontend/Record.h"
#include "lib/Training/StateNames.h"
#include "sprig/elementwise.h"
#include "sprig/grad.h"

namespace sprig::optim {

static Operand at(const Tensor &tensor, Source at) { return Operand(tensor, at); }

struct Average::State {
  std::vector<Parameter> parameters, averages;
  double decay;
  Belonging belonging;
};

Average::Average(const Parameters &given, double decay, Source where) : state(std::make_shared<State>()) {
  if (!(decay >= 0 && decay < 1))
    frontend::fail(where, "optim::Average", "the decay is " + std::to_string(decay) + ", outside of [0, 1)");
  state->decay = decay;
  state->belonging = given;
  for (const Group &group : given.groups)
    for (const Parameter &parameter : group.parameters) state->parameters.push_back(parameter);
  std::vector<std::string> names = stateNames(state->parameters);
  for (size_t i = 0; i < names.size(); ++i) {
    state->averages.emplace_back(state->parameters[i].value().detach(where), /*trainable=*/false, where);
    state->averages.back().setName(training::averageName(names[i]));
  }
}

void Average::update(Source where) const {
  state->belonging.check(state->parameters, "Average::update", where);
  NoGrad quiet;
  for (size_t i = 0; i < state->parameters.size(); ++i) {
    const Parameter &average = state->averages[i];
    Tensor kept = mul(at(average.value(), where), state->decay);
    Tensor share = mul(at(state->parameters[i].value(), where), 1 - state->decay);
    average.set(add(at(kept, where), at(share, where)), where);
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
  return result;
}

nn::StateDict Average::stateDict() const {
  nn::StateDict result;
  for (auto &[name, average] : namedState()) result.push_back({name, average.value()});
  return result;
}

void Average::loadStateDict(const nn::StateDict &given, Source where) const {
  loadNamed(namedState(), given, "optim::Average", where);
}

} // namespace sprig::optim
