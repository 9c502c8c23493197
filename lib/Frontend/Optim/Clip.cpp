// Bounds on gradients and moving averages of parameters, as `sprig train` computes them.
#include "lib/Frontend/Optim/OptimizerState.h"
#include "sprig/grad.h"
#include "lib/Frontend/Record.h"
#include "lib/Training/StateNames.h"
#include "sprig/elementwise.h"
#include "sprig/reductions.h"

namespace sprig::optim {

static Operand at(const Tensor &tensor, Source at) { return Operand(tensor, at); }

Tensor gradNorm(const std::vector<Tensor> &gradients, Source where) {
  NoGrad quiet;
  Tensor total;
  for (const Tensor &g : gradients) {
    if (!g.defined()) continue;
    Tensor square = cast(at(sum(at(mul(at(g, where), at(g, where)), where)), where), DType::f32);
    total = total.defined() ? add(at(total, where), at(square, where)) : square;
  }
  if (!total.defined()) frontend::fail(where, "gradNorm", "there is no gradient");
  return sqrt(at(total, where));
}

std::vector<Tensor> clipGradNorm(const std::vector<Tensor> &gradients, double most, Source where) {
  if (!(most > 0)) frontend::fail(where, "clipGradNorm", "the bound is " + std::to_string(most) + ", not above 0");
  NoGrad quiet;
  Tensor norm = gradNorm(gradients, where);
  Tensor ratio = div(Operand(most, where), at(add(at(norm, where), 1e-6), where));
  Tensor factor = minimum(at(ratio, where), 1);
  std::vector<Tensor> result;
  for (const Tensor &g : gradients)
    result.push_back(g.defined() ? mul(at(g, where), at(cast(at(factor, where), g.dtype()), where)) : Tensor());
  return result;
}

std::vector<Tensor> clipGradValue(const std::vector<Tensor> &gradients, double most, Source where) {
  if (!(most > 0)) frontend::fail(where, "clipGradValue", "the bound is " + std::to_string(most) + ", not above 0");
  NoGrad quiet;
  std::vector<Tensor> result;
  for (const Tensor &g : gradients)
    result.push_back(g.defined() ? maximum(at(minimum(at(g, where), most), where), -most) : Tensor());
  return result;
}

struct Average::State {
  std::vector<Parameter> parameters, averages;
  double decay;
};

Average::Average(const Parameters &given, double decay, Source where) : state(std::make_shared<State>()) {
  if (!(decay >= 0 && decay < 1))
    frontend::fail(where, "optim::Average", "the decay is " + std::to_string(decay) + ", outside of [0, 1)");
  state->decay = decay;
  for (const Group &group : given.groups)
    for (const Parameter &parameter : group.parameters) state->parameters.push_back(parameter);
  std::vector<std::string> names = stateNames(state->parameters);
  for (size_t i = 0; i < names.size(); ++i) {
    state->averages.emplace_back(state->parameters[i].value().detach(where), /*trainable=*/false, where);
    state->averages.back().setName(training::averageName(names[i]));
  }
}

void Average::update(Source where) const {
  NoGrad quiet;
  for (size_t i = 0; i < state->parameters.size(); ++i) {
    const Parameter &average = state->averages[i];
    Tensor kept = mul(at(average.value(), where), state->decay);
    Tensor share = mul(at(state->parameters[i].value(), where), 1 - state->decay);
    average.set(add(at(kept, where), at(share, where)), where);
  }
}

void Average::swap(Source where) const {
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

} // namespace sprig::optim
