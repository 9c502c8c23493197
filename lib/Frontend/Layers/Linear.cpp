#include "lib/Frontend/Layers/LayerText.h"
#include "lib/Frontend/Ops/Emitter.h"
#include "sprig/contract.h"
#include "sprig/nn/linear.h"
#include "sprig/ops.h"
#include <cmath>
#include <cstring>
#include <limits>

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
  Operand w = need(weight, *this, x);
  return hooked(x, linear(quantizedInput(*this, x), w, with(bias, x)));
}

std::string Linear::extra() const {
  const Shape shape = weightShape(weight, *this);
  if (shape.empty()) return "";
  return "in_features=" + std::to_string(shape[1]) + ", out_features=" + std::to_string(shape[0]) +
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
  return hooked(x1, bilinear(x1, x2, need(weight, *this, x1), with(bias, x1)));
}

std::string Bilinear::extra() const {
  const Shape shape = weightShape(weight, *this);
  if (shape.empty()) return "";
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
  if (!options.paddingIndex) return hooked(indices, rows);
  // The padding's row is constant to gradients.
  Tensor isPadding = eq(indices, *options.paddingIndex);
  return hooked(indices, where(with(unsqueeze(with(isPadding, indices), -1), indices),
                               with(stopGradient(with(rows, indices)), indices), with(rows, indices)));
}

std::string Embedding::extra() const {
  const Shape shape = weightShape(weight, *this);
  if (shape.empty()) return "";
  return std::to_string(shape[0]) + ", " + std::to_string(shape[1]) +
         (options.paddingIndex ? ", padding_idx=" + std::to_string(*options.paddingIndex) : "");
}

EmbeddingBag::EmbeddingBag(int64_t count, int64_t features, Bag mode, Source at) : mode(mode) {
  needPositive(count, "EmbeddingBag", "the number of rows", at);
  needPositive(features, "EmbeddingBag", "the number of features", at);
  weight = addParameter(
      "weight", {count, features}, [](const TensorType &type) { return init::normal(type, 0, 1, Source()); }, at);
}

/// The rows of all indices, each times its weight where there are weights.
Tensor EmbeddingBag::rowsOf(const Operand &indices, const Operand &weights) const {
  const TensorType bags = indices.tensor.type();
  Tensor rows = embedding(indices, need(weight, *this, indices));
  if (isNone(weights, indices, "EmbeddingBag", "weights")) return rows;
  const TensorType own = weights.tensor.type();
  if (mode != Bag::sum) frontend::fail(indices.at, "EmbeddingBag", "takes weights with mode sum alone");
  if (own != TensorType{rows.dtype(), bags.shape})
    frontend::fail(indices.at, "EmbeddingBag",
                   "has weights " + describe(own) + " for indices " + describe(bags) + " into " +
                       describe(TensorType{rows.dtype(), weightShape(weight, *this)}));
  return mul(with(rows, indices), with(unsqueeze(with(weights.tensor, indices), -1), indices));
}

/// The indices' type, which must have this many dimensions and not be empty.
static TensorType bagsOf(const Operand &indices, int rank) {
  frontend::requireDefined(indices.tensor, "EmbeddingBag", "the indices", indices.at);
  const TensorType bags = indices.tensor.type();
  if (bags.shape.rank() != rank || bags.shape.back() < 1)
    frontend::fail(indices.at, "EmbeddingBag",
                   std::string("takes bags of indices ") + (rank == 2 ? "[batch, n]" : "[n]") + ", got " +
                       describe(bags));
  return bags;
}

/// Offsets or lengths [batch] as i64; `batch` below 0 is any.
static Tensor placesOf(const Operand &given, const char *what, int64_t batch, const Operand &indices) {
  frontend::requireDefined(given.tensor, "EmbeddingBag", what, indices.at);
  const TensorType type = given.tensor.type();
  bool isIndex = type.dtype == DType::i64 || type.dtype == DType::i32;
  if (!isIndex || type.shape.rank() != 1 || (batch >= 0 ? type.shape[0] != batch : type.shape[0] < 1))
    frontend::fail(indices.at, "EmbeddingBag",
                   "takes " + std::string(what) + " [" + (batch < 0 ? "batch" : std::to_string(batch)) +
                       "] of i64 or i32, got " + describe(type));
  return cast(with(given.tensor, indices), DType::i64);
}

/// Places from 0 to `most`, which others are no error of before it runs.
static Tensor within(const Tensor &places, int64_t most, Source at) {
  return frontend::Emitter("EmbeddingBag", at).fromStart(places, most + 1);
}

/// Offsets that ascend: the first, and steps of 0 to n from there.
static Tensor ascending(const Tensor &offsets, int64_t n, Source at) {
  auto as = [&](const Tensor &tensor) { return Operand(tensor, at); };
  const int64_t count = offsets.shape(at)[0];
  Tensor first = within(slice(as(offsets), 0, 0, 1), n, at);
  if (count == 1) return first;
  Tensor steps = within(sub(as(slice(as(offsets), 0, 1, count)), as(slice(as(offsets), 0, 0, count - 1))), n, at);
  return cat(Operands({as(first), as(add(as(first), as(cumsum(as(steps), 0))))}, at), 0);
}

Tensor EmbeddingBag::operator()(const Operand &indices, const Operand &weights) const {
  InLayer in(scope());
  bagsOf(indices, 2);
  Operand all = with(rowsOf(indices, weights), indices);
  return hooked(indices, mode == Bag::mean ? mean(all, 1) : mode == Bag::sum ? sum(all, 1) : max(all, 1));
}

// What no bag has: below every row.
static Tensor nothing(const Shape &shape, DType dtype, Source at) {
  return full(shape, -std::numeric_limits<double>::infinity(), dtype, at);
}

Tensor EmbeddingBag::byOffsets(const Operand &indices, const Operand &offsets, const Operand &weights) const {
  InLayer in(scope());
  const TensorType bags = bagsOf(indices, 1);
  auto as = [&](const Tensor &tensor) { return with(tensor, indices); };
  Tensor given = placesOf(offsets, "offsets", -1, indices);
  const int64_t n = bags.shape[0], batch = given.shape()[0];
  DeviceScope there(frontend::deviceFor(indices.tensor), indices.at);
  Tensor begins = ascending(given, n, indices.at);
  Tensor rows = rowsOf(indices, weights);
  const DType type = rows.dtype();
  const int64_t features = rows.shape()[1];
  // The bag of each index: how many begin up to it, less one.
  Tensor begun =
      indexAdd(as(zeros({n + 1}, DType::i64, indices.at)), 0, as(begins), as(ones({batch}, DType::i64, indices.at)));
  Tensor last = sub(as(slice(as(cumsum(as(begun), 0)), 0, 0, n)), 1);
  // Before the first bag there is none: -1, which is refused.
  const Tensor &bag = last;
  Tensor count =
      indexAdd(as(zeros({batch}, DType::i64, indices.at)), 0, as(bag), as(ones({n}, DType::i64, indices.at)));
  Tensor counts = unsqueeze(as(count), -1);
  if (mode == Bag::max) {
    // The first index of a bag that has the most, for each feature: it alone gets the gradient.
    Tensor to = expand(as(unsqueeze(as(bag), -1)), {n, features}), fixed = stopGradient(as(rows));
    Tensor most = scatter(as(nothing({batch, features}, type, indices.at)), 0, as(to), as(fixed), Scatter::max);
    Tensor isMost = logicalOr(as(eq(as(fixed), as(gather(as(most), 0, as(to))))), as(isNan(as(fixed))));
    Tensor none = full({batch, features}, double(n), DType::i64, indices.at);
    Tensor places = where(as(isMost), as(unsqueeze(as(arange(n, DType::i64, indices.at)), -1)),
                          as(full({n, features}, double(n), DType::i64, indices.at)));
    Tensor first = clampMax(as(scatter(as(none), 0, as(to), as(places), Scatter::min)), n - 1);
    return hooked(indices, where(as(eq(as(counts), 0)), as(zeros({batch, features}, type, indices.at)),
                                 as(gather(as(rows), 0, as(first)))));
  }
  // Sums of half types are of f32, as other sums, and rounded once.
  const DType wide = type == DType::f16 || type == DType::bf16 ? DType::f32 : type;
  Tensor all = indexAdd(as(zeros({batch, features}, wide, indices.at)), 0, as(bag), as(cast(as(rows), wide)));
  if (mode == Bag::mean) all = div(as(all), as(cast(as(clampMin(as(counts), 1)), wide)));
  return hooked(indices, cast(as(all), type));
}

Tensor EmbeddingBag::byLengths(const Operand &indices, const Operand &lengths, const Operand &weights) const {
  InLayer in(scope());
  const TensorType bags = bagsOf(indices, 2);
  auto as = [&](const Tensor &tensor) { return with(tensor, indices); };
  const int64_t batch = bags.shape[0], n = bags.shape[1];
  DeviceScope there(frontend::deviceFor(indices.tensor), indices.at);
  Tensor count = unsqueeze(as(within(placesOf(lengths, "lengths", batch, indices), n, indices.at)), -1);
  Tensor counts = lt(as(arange(n, DType::i64, indices.at)), as(count)); // [batch, n]
  // What does not count is no index, and its weight may be anything.
  Tensor chosen = where(as(counts), indices, as(zeros({batch, n}, bags.dtype, indices.at)));
  Operand counted = weights;
  if (weights.tensor.defined() && weights.tensor.shape() == bags.shape)
    counted = as(where(as(counts), weights, as(zeros(bags.shape, weights.tensor.dtype(), indices.at))));
  Tensor rows = rowsOf(as(chosen), counted);
  const Shape shape = rows.shape();
  const DType type = rows.dtype();
  Tensor mask = unsqueeze(as(counts), -1);
  Tensor rest = mode == Bag::max ? nothing(shape, type, indices.at) : zeros(shape, type, indices.at);
  Tensor kept = where(as(mask), as(rows), as(rest));
  if (mode == Bag::sum) return hooked(indices, sum(as(kept), 1));
  if (mode == Bag::mean) {
    Tensor number = cast(as(clamp(as(count), 1, n)), type);
    return hooked(indices, div(as(sum(as(kept), 1)), as(number)));
  }
  return hooked(indices,
                where(as(lt(as(count), 1)), as(zeros({batch, shape[2]}, type, indices.at)), as(max(as(kept), 1))));
}

std::string EmbeddingBag::extra() const {
  const Shape shape = weightShape(weight, *this);
  if (shape.empty()) return "";
  static constexpr const char *kModes[] = {"mean", "sum", "max"};
  return std::to_string(shape[0]) + ", " + std::to_string(shape[1]) + ", mode='" + kModes[int(mode)] + "'";
}

Tensor Flatten::operator()(const Operand &x) const {
  InLayer in(scope());
  return hooked(x, flatten(x, first, last));
}
std::string Flatten::extra() const {
  return "start_dim=" + std::to_string(first) + ", end_dim=" + std::to_string(last);
}

Tensor Unflatten::operator()(const Operand &x) const {
  InLayer in(scope());
  return hooked(x, unflatten(x, axis, sizes));
}
std::string Unflatten::extra() const {
  return "dim=" + std::to_string(axis) + ", unflattened_size=" + tupleText(sizes);
}

} // namespace sprig::nn
