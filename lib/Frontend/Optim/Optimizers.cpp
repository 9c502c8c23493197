// The functions that make optimizers: their options as the fields of a training configuration.
#include "sprig/optim.h"
#include <nlohmann/json.hpp>

namespace sprig::optim {

using Json = nlohmann::ordered_json;

Optimizer sgd(const Parameters &parameters, const SgdOptions &o, Source at) {
  Json json = {{"name", "sgd"},
               {"lr", o.lr},
               {"momentum", o.momentum},
               {"dampening", o.dampening},
               {"weight_decay", o.weightDecay},
               {"nesterov", o.nesterov}};
  return Optimizer::fromJson(parameters, json.dump(), at);
}

Optimizer adam(const Parameters &parameters, const AdamOptions &o, Source at) {
  Json json = {{"name", "adam"}, {"lr", o.lr}, {"betas", o.betas}, {"eps", o.eps}, {"weight_decay", o.weightDecay}};
  return Optimizer::fromJson(parameters, json.dump(), at);
}

Optimizer adamw(const Parameters &parameters, const AdamWOptions &o, Source at) {
  Json json = {{"name", "adamw"}, {"lr", o.lr}, {"betas", o.betas}, {"eps", o.eps}, {"weight_decay", o.weightDecay}};
  return Optimizer::fromJson(parameters, json.dump(), at);
}

Optimizer nadam(const Parameters &parameters, const NadamOptions &o, Source at) {
  Json json = {{"name", "nadam"},
               {"lr", o.lr},
               {"betas", o.betas},
               {"eps", o.eps},
               {"weight_decay", o.weightDecay},
               {"momentum_decay", o.momentumDecay},
               {"decoupled_weight_decay", o.decoupledWeightDecay}};
  return Optimizer::fromJson(parameters, json.dump(), at);
}

Optimizer radam(const Parameters &parameters, const RadamOptions &o, Source at) {
  Json json = {{"name", "radam"},
               {"lr", o.lr},
               {"betas", o.betas},
               {"eps", o.eps},
               {"weight_decay", o.weightDecay},
               {"decoupled_weight_decay", o.decoupledWeightDecay}};
  return Optimizer::fromJson(parameters, json.dump(), at);
}

Optimizer rmsprop(const Parameters &parameters, const RmspropOptions &o, Source at) {
  Json json = {
      {"name", "rmsprop"},     {"lr", o.lr}, {"alpha", o.alpha}, {"eps", o.eps}, {"weight_decay", o.weightDecay},
      {"momentum", o.momentum}};
  return Optimizer::fromJson(parameters, json.dump(), at);
}

Optimizer adagrad(const Parameters &parameters, const AdagradOptions &o, Source at) {
  Json json = {
      {"name", "adagrad"}, {"lr", o.lr}, {"lr_decay", o.lrDecay}, {"weight_decay", o.weightDecay}, {"eps", o.eps}};
  return Optimizer::fromJson(parameters, json.dump(), at);
}

Optimizer adadelta(const Parameters &parameters, const AdadeltaOptions &o, Source at) {
  Json json = {{"name", "adadelta"}, {"lr", o.lr}, {"rho", o.rho}, {"eps", o.eps}, {"weight_decay", o.weightDecay}};
  return Optimizer::fromJson(parameters, json.dump(), at);
}

Optimizer lion(const Parameters &parameters, const LionOptions &o, Source at) {
  Json json = {{"name", "lion"}, {"lr", o.lr}, {"betas", o.betas}, {"weight_decay", o.weightDecay}};
  return Optimizer::fromJson(parameters, json.dump(), at);
}

} // namespace sprig::optim
