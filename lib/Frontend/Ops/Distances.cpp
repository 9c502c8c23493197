// Distances between all pairs of rows.
#include "lib/Frontend/Ops/Emitter.h"
#include "sprig/contract.h"
#include <cmath>

namespace sprig {

using frontend::Emitter;

namespace {
/// f(x), and 0 where x is 0, there without a gradient, which would be infinite.
template <typename F> Tensor awayFromZero(const Emitter &r, const Tensor &x, F f) {
  Tensor isZero = r.compare("predicate eq", x, r.number(0, x));
  return r.select(isZero, r.number(0, x), f(r.select(isZero, r.number(1, x), x)));
}
} // namespace

static Tensor distances(const Emitter &r, const Operand &a, const Operand &b, double p) {
  Tensor x = r.requireFloat(a), y = r.requireFloat(b);
  const TensorType s = x.type(r.at), t = y.type(r.at);
  int m = s.shape.rank(), n = t.shape.rank();
  if (s.dtype != t.dtype)
    r.fail("compares " + describe(s) + " with " + describe(t) + "; convert one of them with to()");
  if (m < 2 || n < 2) r.fail("takes rows [..., P, M] and [..., R, M], got " + describe(s) + " and " + describe(t));
  if (s.shape.back() != t.shape.back())
    r.fail("compares rows of " + std::to_string(s.shape.back()) + " numbers of " + describe(s) + " with rows of " +
           std::to_string(t.shape.back()) + " of " + describe(t));
  if (!(p >= 0)) r.fail("has p = " + frontend::realText(p) + "; expected at least 0");
  Tensor difference = r.withRange(r.sub(r.unsqueeze(x, m - 1), r.unsqueeze(y, n - 2)));
  const Shape last{difference.type(r.at).shape.rank() - 1};
  if (p == 2)
    return awayFromZero(r, r.sum(r.mul(difference, difference), last, false),
                        [&](const Tensor &v) { return r.sqrt(v); });
  if (p == 0) {
    Tensor differs = r.compare("predicate ne", difference, r.number(0, difference));
    return r.sum(r.cast(differs, difference.type(r.at).dtype), last, false);
  }
  Tensor size = r.abs(difference);
  if (p == 1) return r.sum(size, last, false);
  if (p == HUGE_VAL) {
    if (s.shape.back() == 0) return r.sum(size, last, false);
    return r.reduce("reduce_kind max", size, last, false);
  }
  auto power = [&](double exponent) {
    return [&r, exponent](const Tensor &v) { return r.binary(SPRIG_OP("pow"), v, r.number(exponent, v)); };
  };
  return awayFromZero(r, r.sum(awayFromZero(r, size, power(p)), last, false), power(1 / p));
}

Tensor cdist(const Operand &a, const Operand &b, double p) {
  Emitter r("cdist", a.at.line ? a.at : b.at);
  Tensor result = distances(r, a, b, p);
  return r.cast(result, r.requireFloat(a).type(r.at).dtype);
}

} // namespace sprig
