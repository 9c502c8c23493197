#include "lib/Frontend/Layers/LayerText.h"
#include "sprig/contract.h"
#include "sprig/nn/linear.h"
#include "sprig/ops.h"
#include <cmath>
#include <cstring>

namespace sprig::nn {

namespace {
Initializer uniformWithin(double bound) {
  return [bound](const TensorType &type) { return init::uniform(type, -bound, bound, Source()); };
}
} // namespace

Linear::Linear(int64_t in, int64_t out, const LinearOptions &options, Source at) {
  needPositive(in, "Linear", "the number of inputs", at);
  needPositive(out, "Linear", "the number of outputs", at);
  weight = addParameter(
      "weight", {out, in},
      [](const TensorType &type) {
        return init::kaimingUniform(type, std::sqrt(5.0), init::Fan::in, init::Nonlinearity::leakyRelu, Source());
      },
      at);
  bias = addOptional(*this, options.bias, "bias", {out}, uniformWithin(1 / std::sqrt(double(in))), at);
}

Tensor Linear::operator()(const Operand &x) const {
  InLayer in(scope());
  return linear(x, need(weight, *this, x), with(bias, x));
}

std::string Linear::extra() const {
  if (!weight.defined()) return "";
  return "in_features=" + std::to_string(weight.shape()[1]) + ", out_features=" + std::to_string(weight.shape()[0]) +
         ", bias=" + boolText(bias.defined());
}

Bilinear::Bilinear(int64_t in1, int64_t in2, int64_t out, const LinearOptions &options, Source at) {
  needPositive(in1, "Bilinear", "the number of first inputs", at);
  needPositive(in2, "Bilinear", "the number of second inputs", at);
  needPositive(out, "Bilinear", "the number of outputs", at);
  Initializer within = uniformWithin(1 / std::sqrt(double(in1)));
  weight = addParameter("weight", {out, in1, in2}, within, at);
  bias = addOptional(*this, options.bias, "bias", {out}, within, at);
}

Tensor Bilinear::operator()(const Operand &x1, const Operand &x2) const {
  InLayer in(scope());
  return bilinear(x1, x2, need(weight, *this, x1), with(bias, x1));
}

std::string Bilinear::extra() const {
  if (!weight.defined()) return "";
  const Shape &shape = weight.shape();
  return "in1_features=" + std::to_string(shape[1]) + ", in2_features=" + std::to_string(shape[2]) +
         ", out_features=" + std::to_string(shape[0]) + ", bias=" + boolText(bias.defined());
}

Embedding::Embedding(int64_t count, int64_t features, const EmbeddingOptions &options, Source at) : options(options) {
  needPositive(count, "Embedding", "the number of rows", at);
  needPositive(features, "Embedding", "the number of features", at);
  auto &padding = this->options.paddingIndex;
  if (padding && *padding < 0) *padding += count;
  if (padding && (*padding < 0 || *padding >= count))
    frontend::fail(at, "Embedding",
                   "the padding index " + std::to_string(*options.paddingIndex) + " is out of range of " +
                       std::to_string(count) + " rows");
  weight = addParameter(
      "weight", {count, features},
      [row = padding](const TensorType &type) {
        Tensor value = init::normal(type, 0, 1, Source());
        if (!row) return value;
        size_t rowBytes = size_t(type.bytes() / type.shape[0]);
        std::vector<char> bytes(size_t(type.bytes()));
        std::memcpy(bytes.data(), value.bytes(Source()), bytes.size());
        std::memset(bytes.data() + size_t(*row) * rowBytes, 0, rowBytes);
        return Tensor::copyOf(bytes.data(), type);
      },
      at);
}

Tensor Embedding::operator()(const Operand &indices) const {
  InLayer in(scope());
  Tensor rows = embedding(indices, need(weight, *this, indices));
  if (!options.paddingIndex) return rows;
  // The padding's row is constant to gradients.
  Tensor isPadding = eq(indices, *options.paddingIndex);
  return where(with(unsqueeze(with(isPadding, indices), -1), indices), with(stopGradient(with(rows, indices)), indices),
               with(rows, indices));
}

std::string Embedding::extra() const {
  if (!weight.defined()) return "";
  return std::to_string(weight.shape()[0]) + ", " + std::to_string(weight.shape()[1]) +
         (options.paddingIndex ? ", padding_idx=" + std::to_string(*options.paddingIndex) : "");
}

EmbeddingBag::EmbeddingBag(int64_t count, int64_t features, Bag mode, Source at) : mode(mode) {
  needPositive(count, "EmbeddingBag", "the number of rows", at);
  needPositive(features, "EmbeddingBag", "the number of features", at);
  weight = addParameter(
      "weight", {count, features}, [](const TensorType &type) { return init::normal(type, 0, 1, Source()); }, at);
}

Tensor EmbeddingBag::operator()(const Operand &indices, const Operand &weights) const {
  InLayer in(scope());
  frontend::requireDefined(indices.tensor, "EmbeddingBag", "the indices", indices.at);
  const TensorType bags = indices.tensor.type();
  if (bags.shape.rank() != 2 || bags.shape[1] < 1)
    frontend::fail(indices.at, "EmbeddingBag", "takes bags of indices [batch, n], got " + describe(bags));
  Tensor rows = embedding(indices, need(weight, *this, indices));
  if (weights.tensor.defined()) {
    const TensorType own = weights.tensor.type();
    if (mode != Bag::sum) frontend::fail(indices.at, "EmbeddingBag", "takes weights with mode sum alone");
    if (own != TensorType{weight.dtype(), bags.shape})
      frontend::fail(indices.at, "EmbeddingBag",
                     "has weights " + describe(own) + " for indices " + describe(bags) + " into " +
                         describe(weight.type()));
    rows = mul(with(rows, indices), with(unsqueeze(with(weights.tensor, indices), -1), indices));
  }
  Operand all = with(rows, indices);
  return mode == Bag::mean ? mean(all, 1) : mode == Bag::sum ? sum(all, 1) : max(all, 1);
}

std::string EmbeddingBag::extra() const {
  if (!weight.defined()) return "";
  static constexpr const char *kModes[] = {"mean", "sum", "max"};
  return std::to_string(weight.shape()[0]) + ", " + std::to_string(weight.shape()[1]) + ", mode='" + kModes[int(mode)] +
         "'";
}

Tensor Flatten::operator()(const Operand &x) const {
  InLayer in(scope());
  return flatten(x, first, last);
}
std::string Flatten::extra() const {
  return "start_dim=" + std::to_string(first) + ", end_dim=" + std::to_string(last);
}

Tensor Unflatten::operator()(const Operand &x) const {
  InLayer in(scope());
  return unflatten(x, axis, sizes);
}
std::string Unflatten::extra() const {
  return "dim=" + std::to_string(axis) + ", unflattened_size=" + tupleText(sizes);
}

} // namespace sprig::nn
