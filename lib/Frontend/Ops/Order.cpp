// Running sums, the largest elements, sorting, and what follows from it: medians and quantiles.
#include "lib/Frontend/Ops/Emitter.h"
#include "sprig/reductions.h"
#include <cmath>

namespace sprig {

using frontend::Attr;
using frontend::Emitter;

namespace {
Tensor running(const char *op, const char *word, const Operand &x, int axis) {
  Emitter r(op, x.at);
  Tensor operand = r.tensorOf(x);
  if (!isFloat(operand.type(r.at).dtype)) operand = r.cast(operand, DType::i64);
  int along = r.axisOf(axis, operand.type(r.at));
  return r.unary(SPRIG_OP("cumulative"), operand, {Attr::word("kind", word), Attr::of("axis", along)});
}

Sorted ordered(const Emitter &r, const Operand &x, int64_t k, int axis, bool largest, bool takesAll) {
  Tensor operand = r.tensorOf(x);
  DType own = operand.type(r.at).dtype;
  if (own == DType::boolean) operand = r.cast(operand, DType::u8);
  const TensorType &type = operand.type(r.at);
  int along = r.axisOf(axis, type);
  int64_t size = type.shape[along];
  if (takesAll) k = size;
  if (k < 0 || k > size)
    r.fail("picks " + std::to_string(k) + " of " + std::to_string(size) + " elements of axis " + std::to_string(along) +
           " of " + describe(type));
  TensorType values = type;
  values.shape[along] = k;
  const TensorType results[] = {values, {DType::i64, values.shape}};
  auto found =
      frontend::recordAll(SPRIG_OP("top_k"), std::span(&operand, 1),
                          {Attr::of("k", k), Attr::of("axis", along), Attr::of("largest", largest)}, results, r.at);
  return {r.cast(found[0], own), found[1]};
}
} // namespace

Tensor cumsum(const Operand &x, int axis) { return running("cumsum", "reduce_kind sum", x, axis); }
Tensor cumprod(const Operand &x, int axis) { return running("cumprod", "reduce_kind prod", x, axis); }

Sorted topk(const Operand &x, int64_t k, int axis, bool largest) {
  return ordered(Emitter("topk", x.at), x, k, axis, largest, false);
}
Sorted sort(const Operand &x, int axis, bool descending) {
  return ordered(Emitter("sort", x.at), x, 0, axis, descending, true);
}
Tensor argsort(const Operand &x, int axis, bool descending) {
  return ordered(Emitter("argsort", x.at), x, 0, axis, descending, true).indices;
}

namespace {
/// Ascending along an axis that has elements; NaN last.
Sorted ascending(const Emitter &r, const Operand &x, int axis) {
  Sorted sorted = ordered(r, x, 0, axis, false, true);
  const TensorType &type = sorted.values.type(r.at);
  if (type.shape[axis] == 0) r.fail("takes one element or more, got " + describe(type));
  return sorted;
}

Tensor flat(const Emitter &r, const Operand &x) {
  Tensor operand = r.tensorOf(x);
  return r.reshape(operand, {operand.type(r.at).elements()});
}

/// The value in place of `picked` where a NaN stands last.
Tensor nanFirst(const Emitter &r, const Tensor &sorted, int axis, const Tensor &picked, const Tensor &ofNan) {
  if (!isFloat(sorted.type(r.at).dtype)) return picked;
  Tensor last = r.part(sorted, axis, sorted.type(r.at).shape[axis] - 1, 1);
  return r.select(r.predicate(SPRIG_OP("is_nan"), last), ofNan, picked);
}

Sorted medianOf(const Emitter &r, const Operand &x, int axis, bool keepDims) {
  Sorted sorted = ascending(r, x, axis);
  int64_t size = sorted.values.type(r.at).shape[axis];
  auto picked = [&](const Tensor &from) {
    Tensor one =
        nanFirst(r, sorted.values, axis, r.part(from, axis, (size - 1) / 2, 1), r.part(from, axis, size - 1, 1));
    return keepDims ? one : r.dropAxis(one, axis);
  };
  return {picked(sorted.values), picked(sorted.indices)};
}

/// The quantile q of sorted elements, the axis kept.
Tensor quantileOf(const Emitter &r, const Tensor &sorted, double q, int axis, Quantile between) {
  if (!(q >= 0 && q <= 1)) r.fail("has the share " + frontend::realText(q) + "; expected 0 to 1");
  double place = q * double(sorted.type(r.at).shape[axis] - 1);
  int64_t low = int64_t(std::floor(place)), high = int64_t(std::ceil(place));
  double share = between == Quantile::midpoint ? 0.5 : place - double(low);
  if (between == Quantile::lower) high = low;
  if (between == Quantile::higher) low = high;
  if (between == Quantile::nearest) low = high = int64_t(std::nearbyint(place));
  Tensor below = r.part(sorted, axis, low, 1);
  if (low == high) return below;
  Tensor above = r.part(sorted, axis, high, 1);
  // From the nearer end, so that both ends are exact.
  Tensor span = r.sub(above, below);
  return share < 0.5 ? r.add(below, r.mul(span, r.number(share, span)))
                     : r.sub(above, r.mul(span, r.number(1 - share, span)));
}

Tensor quantiles(const Emitter &r, const Operand &x, std::span<const double> q, int axis, bool keepDims, bool stacks,
                 Quantile between) {
  r.requireFloat(x);
  Tensor sorted = ascending(r, x, axis).values;
  int64_t size = sorted.type(r.at).shape[axis];
  std::vector<Tensor> each;
  for (double share : q) {
    Tensor one =
        nanFirst(r, sorted, axis, quantileOf(r, sorted, share, axis, between), r.part(sorted, axis, size - 1, 1));
    if (!keepDims) one = r.dropAxis(one, axis);
    each.push_back(stacks ? r.unsqueeze(one, 0) : one);
  }
  return r.concat(each, 0);
}
} // namespace

Sorted median(const Operand &x, int axis, bool keepDims) {
  Emitter r("median", x.at);
  return medianOf(r, x, r.axisOf(axis, r.tensorOf(x).type(r.at)), keepDims);
}
Tensor median(const Operand &x) {
  Emitter r("median", x.at);
  return medianOf(r, {flat(r, x), r.at}, 0, false).values;
}

Tensor quantile(const Operand &x, double q, int axis, bool keepDims, Quantile between) {
  Emitter r("quantile", x.at);
  return quantiles(r, x, {&q, 1}, r.axisOf(axis, r.tensorOf(x).type(r.at)), keepDims, false, between);
}
Tensor quantile(const Operand &x, double q, Quantile between) {
  Emitter r("quantile", x.at);
  return quantiles(r, {flat(r, x), r.at}, {&q, 1}, 0, false, false, between);
}
Tensor quantile(const Operand &x, const std::vector<double> &q, int axis, bool keepDims, Quantile between) {
  Emitter r("quantile", x.at);
  if (q.empty()) r.fail("takes one share or more");
  return quantiles(r, x, q, r.axisOf(axis, r.tensorOf(x).type(r.at)), keepDims, true, between);
}

} // namespace sprig
