// Reductions over axes.
#include "sprig/reductions.h"
#include "lib/Frontend/Ops/Emitter.h"
#include <cmath>

namespace sprig {

using frontend::Attr;
using frontend::Emitter;

namespace {
/// Sums and products of integers and booleans are i64, as in PyTorch.
Tensor widened(const Emitter &r, const Operand &x) {
  Tensor operand = r.tensorOf(x);
  return isFloat(operand.type(r.at).dtype) ? operand : r.cast(operand, DType::i64);
}

Tensor reduced(const char *op, const char *word, const Operand &x, const Ints &axes, bool keepDims) {
  Emitter r(op, x.at);
  Tensor operand = widened(r, x);
  return r.reduce(word, operand, r.axesOf(axes, operand.type(r.at)), keepDims);
}

/// max and min have no value over nothing.
Tensor extreme(const char *op, const char *word, const Operand &x, const Ints &axes, bool keepDims) {
  Emitter r(op, x.at);
  Tensor operand = r.tensorOf(x);
  const TensorType &type = operand.type(r.at);
  Shape list = r.axesOf(axes, type);
  for (int64_t axis : list)
    if (type.shape[int(axis)] == 0)
      r.fail("chooses among 0 elements of axis " + std::to_string(axis) + " of " + describe(type));
  return r.reduce(word, operand, list, keepDims);
}

Tensor quantified(const char *op, const char *word, const Operand &x, const Ints &axes, bool keepDims) {
  Emitter r(op, x.at);
  Tensor operand = r.cast(r.tensorOf(x), DType::boolean);
  return r.reduce(word, operand, r.axesOf(axes, operand.type(r.at)), keepDims);
}

Tensor position(const char *op, const char *word, const Operand &x, int axis, bool keepDims) {
  Emitter r(op, x.at);
  Tensor operand = r.tensorOf(x);
  if (operand.type(r.at).dtype == DType::boolean) operand = r.cast(operand, DType::u8);
  const TensorType &type = operand.type(r.at);
  int along = r.axisOf(axis, type);
  if (type.shape[along] == 0)
    r.fail("chooses among 0 elements of axis " + std::to_string(along) + " of " + describe(type));
  frontend::AttrList attrs{Attr::word("kind", word), Attr::of("axis", along)};
  if (keepDims) attrs.push_back(Attr::unit("keep_dims"));
  return r.emit(SPRIG_OP("arg_reduce"), {operand}, std::move(attrs),
                {DType::i64, frontend::reducedShape(type.shape, {along}, keepDims)});
}

int64_t countOver(const Shape &shape, const Shape &axes) {
  int64_t count = 1;
  for (int64_t axis : axes) count *= shape[int(axis)];
  return count;
}

Tensor variance(const Emitter &r, const Operand &x, const Ints &axes, double correction, bool keepDims) {
  Tensor operand = r.requireFloat(x);
  // Half types are computed in f32 and rounded once.
  DType type = operand.type(r.at).dtype;
  Tensor wide = size(type) < 4 ? r.cast(operand, DType::f32) : operand;
  Shape list = r.axesOf(axes, wide.type(r.at));
  Tensor away = r.sub(wide, r.mean(wide, list, true));
  Tensor squares = r.sum(r.mul(away, away), list, keepDims);
  double degrees = double(countOver(wide.type(r.at).shape, list)) - correction;
  return r.div(squares, r.number(std::max(degrees, 0.0), squares));
}
} // namespace

Tensor sum(const Operand &x, const Ints &axes, bool keepDims) {
  return reduced("sum", "reduce_kind sum", x, axes, keepDims);
}
Tensor prod(const Operand &x, const Ints &axes, bool keepDims) {
  return reduced("prod", "reduce_kind prod", x, axes, keepDims);
}
Tensor max(const Operand &x, const Ints &axes, bool keepDims) {
  return extreme("max", "reduce_kind max", x, axes, keepDims);
}
Tensor min(const Operand &x, const Ints &axes, bool keepDims) {
  return extreme("min", "reduce_kind min", x, axes, keepDims);
}
Tensor any(const Operand &x, const Ints &axes, bool keepDims) {
  return quantified("any", "reduce_kind max", x, axes, keepDims);
}
Tensor All::operator()(const Operand &x, const Ints &axes, bool keepDims) const {
  return quantified("all", "reduce_kind min", x, axes, keepDims);
}
Tensor argmax(const Operand &x, int axis, bool keepDims) {
  return position("argmax", "reduce_kind max", x, axis, keepDims);
}
Tensor argmin(const Operand &x, int axis, bool keepDims) {
  return position("argmin", "reduce_kind min", x, axis, keepDims);
}

Tensor mean(const Operand &x, const Ints &axes, bool keepDims) {
  Emitter r("mean", x.at);
  Tensor operand = r.requireFloat(x);
  return r.mean(operand, r.axesOf(axes, operand.type(r.at)), keepDims);
}

Tensor var(const Operand &x, const Ints &axes, double correction, bool keepDims) {
  Emitter r("var", x.at);
  Tensor result = variance(r, x, axes, correction, keepDims);
  return r.cast(result, r.requireFloat(x).type(r.at).dtype);
}

Tensor stdDev(const Operand &x, const Ints &axes, double correction, bool keepDims) {
  Emitter r("stdDev", x.at);
  Tensor result = r.lengthOf(variance(r, x, axes, correction, keepDims));
  return r.cast(result, r.requireFloat(x).type(r.at).dtype);
}

Tensor logsumexp(const Operand &x, const Ints &axes, bool keepDims) {
  Emitter r("logsumexp", x.at);
  Tensor operand = r.floatOf(x);
  Shape list = r.axesOf(axes, operand.type(r.at));
  Tensor top = r.reduce("reduce_kind max", operand, list, true);
  // Taking an infinity off itself would give NaN; it needs no help against overflow.
  Tensor isFinite = r.compare("predicate lt", r.abs(top), r.number(HUGE_VAL, top));
  top = r.select(isFinite, top, r.number(0, top)).detach(r.at); // cancels out, so its gradient does too
  Tensor total = r.log(r.sum(r.exp(r.sub(operand, top)), list, true));
  Tensor result = r.add(total, top);
  return keepDims ? result : r.reshape(result, frontend::reducedShape(operand.type(r.at).shape, list, false));
}

namespace {
Tensor normOf(const Emitter &r, const Tensor &x, double p, const Shape &axes, bool keepDims) {
  if (p != 0 && countOver(x.type(r.at).shape, axes) == 1) return r.sum(r.abs(x), axes, keepDims); // nothing overflows
  if (p == 2) return r.lengthOf(r.sum(r.mul(x, x), axes, keepDims));
  Tensor size = r.abs(x);
  if (p == HUGE_VAL) return r.reduce("reduce_kind max", size, axes, keepDims);
  if (p == -HUGE_VAL) return r.reduce("reduce_kind min", size, axes, keepDims);
  if (p == 1) return r.sum(size, axes, keepDims);
  if (p == 0) {
    Tensor counts = r.cast(r.compare("predicate ne", x, r.number(0, x)), x.type(r.at).dtype);
    return r.sum(counts, axes, keepDims);
  }
  // Powers have no gradient at 0 where it would be infinite: that of a norm is 0 there.
  auto power = [&](const Tensor &base, double exponent) {
    return r.binary(SPRIG_OP("pow"), base, r.number(exponent, base));
  };
  auto isZero = [&](const Tensor &base) { return r.compare("predicate eq", base, r.number(0, base)); };
  Tensor powers;
  if (p < 1) {
    Tensor atZero = isZero(size);
    powers = power(r.select(atZero, r.number(1, size), size), p);
    powers = r.select(atZero, r.number(p < 0 ? HUGE_VAL : 0, size), powers);
  } else {
    powers = power(size, p);
  }
  Tensor total = r.sum(powers, axes, keepDims);
  return power(1 / p < 1 ? r.cut(isZero(total), total) : total, 1 / p);
}
} // namespace

Tensor norm(const Operand &x, double p, const Ints &axes, bool keepDims) {
  Emitter r("norm", x.at);
  Tensor operand = r.requireFloat(x);
  const TensorType &type = operand.type(r.at);
  return r.cast(normOf(r, r.withRange(operand), p, r.axesOf(axes, type), keepDims), type.dtype);
}

Tensor normalize(const Operand &x, double p, int axis, double epsilon) {
  Emitter r("normalize", x.at);
  Tensor operand = r.requireFloat(x), wide = r.withRange(operand);
  const TensorType &type = operand.type(r.at);
  Tensor length = normOf(r, wide, p, {r.axisOf(axis, type)}, true);
  return r.cast(r.div(wide, r.atLeast(length, r.number(epsilon, length))), type.dtype);
}

Tensor cosineSimilarity(const Operand &a, const Operand &b, int axis, double epsilon) {
  Emitter r("cosineSimilarity", a.at);
  Tensor x = r.requireFloat(a), y = r.requireFloat(b);
  const TensorType p = x.type(r.at), q = y.type(r.at);
  if (p.dtype != q.dtype)
    r.fail("compares " + describe(p) + " with " + describe(q) + "; convert one of them with to()");
  Shape common = r.broadcast(p, q);
  int along = r.axisOf(axis, {p.dtype, common});
  x = r.withRange(r.broadcastTo(x, common));
  y = r.withRange(r.broadcastTo(y, common));
  auto lengthOf = [&](const Tensor &v) {
    Tensor length = normOf(r, v, 2, {along}, false);
    return r.atLeast(length, r.number(epsilon, length));
  };
  return r.cast(r.div(r.sum(r.mul(x, y), {along}, false), r.mul(lengthOf(x), lengthOf(y))), p.dtype);
}

} // namespace sprig
