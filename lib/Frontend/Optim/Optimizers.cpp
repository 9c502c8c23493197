// The functions that make optimizers: their options as settings of a training run.
#include "lib/Training/TrainConfig.h"
#include "sprig/optim.h"

namespace sprig::optim {

using training::OptimizerConfig;
using training::OptimizerKind;

Optimizer sgd(const Parameters &parameters, const SgdOptions &o, Source at) {
  OptimizerConfig settings{.kind = OptimizerKind::sgd, .lr = o.lr, .weightDecay = o.weightDecay};
  settings.momentum = o.momentum, settings.dampening = o.dampening, settings.nesterov = o.nesterov;
  return Optimizer::of(parameters, settings, at);
}

/// What kinds have in common that go by moments.
template <typename Options> static OptimizerConfig ofMoments(OptimizerKind kind, const Options &o) {
  OptimizerConfig settings{.kind = kind, .lr = o.lr, .weightDecay = o.weightDecay};
  settings.beta1 = o.betas[0], settings.beta2 = o.betas[1];
  if constexpr (requires { o.eps; }) settings.eps = o.eps;
  if constexpr (requires { o.momentumDecay; }) settings.momentumDecay = o.momentumDecay;
  if constexpr (requires { o.decoupledWeightDecay; }) settings.decoupled = o.decoupledWeightDecay;
  return settings;
}

Optimizer adam(const Parameters &parameters, const AdamOptions &o, Source at) {
  return Optimizer::of(parameters, ofMoments(OptimizerKind::adam, o), at);
}

Optimizer adamw(const Parameters &parameters, const AdamWOptions &o, Source at) {
  return Optimizer::of(parameters, ofMoments(OptimizerKind::adamw, o), at);
}

Optimizer nadam(const Parameters &parameters, const NadamOptions &o, Source at) {
  return Optimizer::of(parameters, ofMoments(OptimizerKind::nadam, o), at);
}

Optimizer radam(const Parameters &parameters, const RadamOptions &o, Source at) {
  return Optimizer::of(parameters, ofMoments(OptimizerKind::radam, o), at);
}

Optimizer lion(const Parameters &parameters, const LionOptions &o, Source at) {
  return Optimizer::of(parameters, ofMoments(OptimizerKind::lion, o), at);
}

Optimizer rmsprop(const Parameters &parameters, const RmspropOptions &o, Source at) {
  OptimizerConfig settings{.kind = OptimizerKind::rmsprop, .lr = o.lr, .weightDecay = o.weightDecay};
  settings.momentum = o.momentum, settings.eps = o.eps, settings.alpha = o.alpha;
  return Optimizer::of(parameters, settings, at);
}

Optimizer adagrad(const Parameters &parameters, const AdagradOptions &o, Source at) {
  OptimizerConfig settings{.kind = OptimizerKind::adagrad, .lr = o.lr, .weightDecay = o.weightDecay};
  settings.eps = o.eps, settings.lrDecay = o.lrDecay;
  return Optimizer::of(parameters, settings, at);
}

Optimizer adadelta(const Parameters &parameters, const AdadeltaOptions &o, Source at) {
  OptimizerConfig settings{.kind = OptimizerKind::adadelta, .lr = o.lr, .weightDecay = o.weightDecay};
  settings.eps = o.eps, settings.rho = o.rho;
  return Optimizer::of(parameters, settings, at);
}

} // namespace sprig::optim
