#include "sprig/nn/normalization.h"
#include "sprig/grad.h"
#include "lib/Frontend/Engine/BatchScope.h"
#include "lib/Frontend/Layers/LayerText.h"
#include "sprig/ops.h"
#include <utility>

namespace sprig::nn {

namespace {

/// Running statistics as buffers, by PyTorch's names.
void addStatistics(Module &layer, int64_t channels, Parameter &mean, Parameter &variance, Parameter &batches,
                   Source at) {
  mean = layer.addBuffer("running_mean", init::zeros({defaultDType(), {channels}}), true, at);
  variance = layer.addBuffer("running_var", init::ones({defaultDType(), {channels}}), true, at);
  batches = layer.addBuffer("num_batches_tracked", init::zeros({DType::i64, {}}), true, at);
}

void checkInput(const Module &layer, const Operand &x, int low, int high, int channelAxis, int64_t channels) {
  frontend::requireDefined(x.tensor, layer.typeName().c_str(), "the input", x.at);
  const Shape &shape = x.tensor.shape();
  auto refuse = [&](const std::string &text) {
    frontend::fail(x.at, layer.typeName(), text + ", it is " + describe(x.tensor.type()));
  };
  if (shape.rank() < low || shape.rank() > high)
    refuse("the input needs " + std::to_string(low) + (low < high ? " or " + std::to_string(high) : "") +
           " dimensions");
  if (shape[channelAxis] != channels) refuse("the input needs " + std::to_string(channels) + " channels");
}

/// running = kept running + share batch: what `sprig train` computes, bit for bit.
void moveAverage(const Parameter &running, const Tensor &batch, double kept, double share, const Operand &caller) {
  Tensor part = mul(with(batch, caller), share);
  running.set(
      add(with(mul(with(running, caller), kept), caller), with(cast(with(part, caller), running.dtype()), caller)),
      caller.at);
}

} // namespace

BatchNorm::BatchNorm(int axes, int64_t channels, const BatchNormOptions &options, Source at)
    : axes(axes), channels(channels), options(options) {
  needPositive(channels, "BatchNorm", "the number of channels", at);
  weight = addOptional(*this, options.affine, "weight", {channels}, init::ones, at);
  bias = addOptional(*this, options.affine, "bias", {channels}, init::zeros, at);
  if (options.trackRunningStats) addStatistics(*this, channels, runningMean, runningVariance, numBatchesTracked, at);
}

Tensor BatchNorm::operator()(const Operand &x) const {
  InLayer in(scope());
  if (axes == 0) frontend::fail(x.at, typeName(), "the layer was made without sizes");
  checkInput(*this, x, axes == 1 ? 2 : axes + 2, axes + 2, 1, channels);
  if (!isTraining() && options.trackRunningStats)
    return hooked(x, batchNorm(x, with(runningMean, x), with(runningVariance, x), with(weight, x), with(bias, x),
                               options.epsilon));
  BatchStatistics batch = batchNormTraining(x, with(weight, x), with(bias, x), options.epsilon);
  if (!isTraining() || !options.trackRunningStats) return hooked(x, batch.output);
  {
    NoGrad statistics;
    numBatchesTracked.set(sprig::add(with(numBatchesTracked, x), 1), x.at);
    if (options.momentum) {
      const double kept = 1 - *options.momentum;
      moveAverage(runningMean, batch.mean, kept, 1 - kept, x);
      moveAverage(runningVariance, batch.variance, kept, (1 - kept) * batch.correction, x);
    } else { // the mean over all batches: a share of 1 / batches
      Tensor share = reciprocal(with(cast(with(numBatchesTracked, x), runningMean.dtype()), x));
      auto move = [&](const Parameter &running, const Tensor &value) {
        running.set(lerp(with(running, x), with(value, x), with(share, x)), x.at);
      };
      move(runningMean, batch.mean);
      move(runningVariance, mul(with(batch.variance, x), batch.correction));
    }
  }
  return hooked(x, batch.output);
}

std::string BatchNorm::extra() const {
  return std::to_string(channels) + ", eps=" + realText(options.epsilon) +
         ", momentum=" + (options.momentum ? realText(*options.momentum) : "None") +
         ", affine=" + boolText(options.affine) + ", track_running_stats=" + boolText(options.trackRunningStats);
}

InstanceNorm::InstanceNorm(int axes, int64_t channels, const InstanceNormOptions &options, Source at)
    : axes(axes), channels(channels), options(options) {
  needPositive(channels, "InstanceNorm", "the number of channels", at);
  weight = addOptional(*this, options.affine, "weight", {channels}, init::ones, at);
  bias = addOptional(*this, options.affine, "bias", {channels}, init::zeros, at);
  if (options.trackRunningStats) addStatistics(*this, channels, runningMean, runningVariance, numBatchesTracked, at);
}

Tensor InstanceNorm::operator()(const Operand &x) const {
  InLayer in(scope());
  if (axes == 0) frontend::fail(x.at, typeName(), "the layer was made without sizes");
  frontend::requireDefined(x.tensor, typeName().c_str(), "the input", x.at);
  const bool isBatched = x.tensor.rank() != axes + 1;
  checkInput(*this, x, axes + 1, axes + 2, isBatched ? 1 : 0, channels);
  if (isBatched) return hooked(x, normalized(x));
  return hooked(x, squeeze(with(normalized(with(unsqueeze(x, 0), x)), x), 0));
}

Tensor InstanceNorm::normalized(const Operand &x) const {
  if (!options.trackRunningStats) return instanceNorm(x, with(weight, x), with(bias, x), options.epsilon);
  if (!isTraining())
    return batchNorm(x, with(runningMean, x), with(runningVariance, x), with(weight, x), with(bias, x),
                     options.epsilon);
  {
    NoGrad quiet;
    Shape spatial;
    for (int i = 2; i < x.tensor.rank(); ++i) spatial.push_back(i);
    auto statistics = [&](std::span<const Tensor> in) {
      auto overAll = [&](const Tensor &each) { return mean(with(each, x), 0); };
      Operand all = with(in[0], x);
      return std::vector{overAll(mean(all, spatial)), overAll(var(all, spatial))}; // var is unbiased already
    };
    auto found =
        frontend::overSamples(typeName().c_str(), std::span(&x.tensor, 1), /*keepsSamples=*/false, statistics, x.at);
    numBatchesTracked.set(sprig::add(with(numBatchesTracked, x), 1), x.at);
    const double kept = 1 - options.momentum;
    moveAverage(runningMean, found[0], kept, 1 - kept, x);
    moveAverage(runningVariance, found[1], kept, 1 - kept, x);
  }
  return instanceNorm(x, with(weight, x), with(bias, x), options.epsilon);
}

std::string InstanceNorm::extra() const {
  return std::to_string(channels) + ", eps=" + realText(options.epsilon) + ", momentum=" + realText(options.momentum) +
         ", affine=" + boolText(options.affine) + ", track_running_stats=" + boolText(options.trackRunningStats);
}

LayerNorm::LayerNorm(const Ints &shape, const LayerNormOptions &options, Source at) : shape(shape), options(options) {
  for (int64_t size : shape) needPositive(size, "LayerNorm", "a size", at);
  weight = addOptional(*this, options.affine, "weight", shape, init::ones, at);
  bias = addOptional(*this, options.affine && options.bias, "bias", shape, init::zeros, at);
}

Tensor LayerNorm::operator()(const Operand &x) const {
  InLayer in(scope());
  if (shape.empty()) frontend::fail(x.at, typeName(), "the layer was made without sizes");
  return hooked(x, layerNorm(x, shape, with(weight, x), with(bias, x), options.epsilon));
}

std::string LayerNorm::extra() const {
  return tupleText(shape) + ", eps=" + realText(options.epsilon) + ", elementwise_affine=" + boolText(options.affine);
}

GroupNorm::GroupNorm(int64_t groups, int64_t channels, const GroupNormOptions &options, Source at)
    : groups(groups), channels(channels), options(options) {
  needPositive(groups, "GroupNorm", "the number of groups", at);
  needPositive(channels, "GroupNorm", "the number of channels", at);
  if (channels % groups)
    frontend::fail(at, "GroupNorm",
                   std::to_string(channels) + " channels do not divide into " + std::to_string(groups) + " groups");
  weight = addOptional(*this, options.affine, "weight", {channels}, init::ones, at);
  bias = addOptional(*this, options.affine, "bias", {channels}, init::zeros, at);
}

Tensor GroupNorm::operator()(const Operand &x) const {
  InLayer in(scope());
  return hooked(x, groupNorm(x, groups, with(weight, x), with(bias, x), options.epsilon));
}

std::string GroupNorm::extra() const {
  return std::to_string(groups) + ", " + std::to_string(channels) + ", eps=" + realText(options.epsilon) +
         ", affine=" + boolText(options.affine);
}

RMSNorm::RMSNorm(const Ints &shape, const RMSNormOptions &options, Source at) : shape(shape), options(options) {
  for (int64_t size : shape) needPositive(size, "RMSNorm", "a size", at);
  weight = addOptional(*this, options.affine, "weight", shape, init::ones, at);
}

Tensor RMSNorm::operator()(const Operand &x) const {
  InLayer in(scope());
  if (shape.empty()) frontend::fail(x.at, typeName(), "the layer was made without sizes");
  return hooked(x, rmsNorm(x, shape, with(weight, x), options.epsilon));
}

std::string RMSNorm::extra() const {
  return tupleText(shape) + ", eps=" + (options.epsilon < 0 ? "None" : realText(options.epsilon)) +
         ", elementwise_affine=" + boolText(options.affine);
}

Tensor LocalResponseNorm::operator()(const Operand &x) const {
  InLayer in(scope());
  return hooked(x, localResponseNorm(x, size, alpha, beta, k));
}

std::string LocalResponseNorm::extra() const {
  return std::to_string(size) + ", alpha=" + realText(alpha) + ", beta=" + realText(beta) + ", k=" + realText(k);
}

} // namespace sprig::nn
