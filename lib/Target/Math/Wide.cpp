// Functions that are computed in f64 and rounded once: expm1, log1p, the hyperbolic functions and their inverses, pow.
// Differences like exp(x) - 1 cancel only half of f64's bits before a short series takes over near zero.
#include "lib/Target/Math/Functions.h"
#include <limits>

using namespace sprig;
using namespace sprig::expand;

/// exp in f64 to about 1e-14, for results that fit f32 with room: beyond e^200 and e^-200 it stays there.
static Value exp64(ScalarBuilder &s, Value x) {
  x = s.select(s.gt(x, 200), s.f(x, 200), x);
  x = s.select(s.lt(x, -200), s.f(x, -200), x);
  Value shifted = s.fma(x, 1.4426950408889634, kRound64);
  Value n = s.sub(shifted, kRound64);
  Value r = s.fma(n, -kLn2Low64, s.fma(n, -kLn2High64, x));
  Value p =
      s.polynomial(r, {0.5, 0.16666666666648006, 0.04166666666665112, 0.008333333353963128, 0.0013888888906076256,
                       0.00019841208266475704, 2.4801536000433462e-05, 2.7625373722444332e-06, 2.7614021910563383e-07});
  Value e = s.add(s.fma(s.mul(r, r), p, r), 1);
  Value k = s.addi(s.bits(shifted, s.b.getI64Type()), 1023 - kRound64Bits);
  return s.mul(e, s.bits(s.shl(k, 52), s.b.getF64Type()));
}

/// log in f64 to about 1e-15, for numbers that are not denormal.
static Value log64(ScalarBuilder &s, Value x) {
  Value bits = s.bits(x, s.b.getI64Type());
  Value exponent = s.shrs(s.addi(bits, -0x3fe6a09e667f3bcd), 52);
  Value m = s.bits(s.subi(bits, s.shl(exponent, 52)), s.b.getF64Type());
  Value e = s.sub(s.bits(s.addi(exponent, kRound64Bits), s.b.getF64Type()), kRound64);
  // log(m) = 2 atanh(t) with t = (m - 1) / (m + 1)
  Value t = s.div(s.sub(m, 1), s.add(m, 1)), square = s.mul(t, t);
  Value p = s.polynomial(square, {0.3333333333333335, 0.19999999999949297, 0.14285714313194264, 0.11111105533709696,
                                  0.09091447015271649, 0.07665779335161663, 0.07309231041898491});
  Value twice = s.add(t, t);
  Value result = s.fma(e, kLn2High64, s.fma(e, kLn2Low64, s.fma(s.mul(square, p), twice, twice)));
  Value other =
      s.select(s.cmp(CmpFPredicate::OEQ, x, 0), s.f(x, -kInfinity), s.f(x, std::numeric_limits<double>::quiet_NaN()));
  result = s.select(s.gt(x, 0), result, other);
  return s.select(s.cmp(CmpFPredicate::OEQ, x, kInfinity), x, result);
}

/// x * series(v) where |x| < bound, else `otherwise`; the product keeps the sign of zero.
static Value nearZero(ScalarBuilder &s, Value x, double bound, Value v, llvm::ArrayRef<double> series,
                      Value otherwise) {
  return s.select(s.lt(s.abs(x), bound), s.mul(x, s.polynomial(v, series)), otherwise);
}

Value expand::expm1(ScalarBuilder &s, Value x) {
  Value w = widen(s, x);
  return narrow(s, nearZero(s, w, 0x1p-10, w, {1, 1.0 / 2, 1.0 / 6, 1.0 / 24}, s.sub(exp64(s, w), 1)));
}

Value expand::log1p(ScalarBuilder &s, Value x) {
  Value w = widen(s, x);
  return narrow(s, nearZero(s, w, 0x1p-14, w, {1, -1.0 / 2, 1.0 / 3}, log64(s, s.add(w, 1))));
}

Value expand::sinh(ScalarBuilder &s, Value x) {
  Value w = widen(s, x), e = exp64(s, w);
  Value large = s.mul(s.sub(e, s.div(s.f(e, 1), e)), 0.5);
  return narrow(s, nearZero(s, w, 0x1p-4, s.mul(w, w), {1, 1.0 / 6, 1.0 / 120, 1.0 / 5040}, large));
}

Value expand::cosh(ScalarBuilder &s, Value x) {
  Value e = exp64(s, widen(s, x));
  return narrow(s, s.mul(s.add(e, s.div(s.f(e, 1), e)), 0.5));
}

Value expand::asinh(ScalarBuilder &s, Value x) {
  Value w = widen(s, x), a = s.abs(w);
  Value large = log64(s, s.add(a, s.sqrt(s.add(s.mul(a, a), 1))));
  large = s.copySign(large, w);
  return narrow(s, nearZero(s, w, 0x1p-6, s.mul(w, w), {1, -1.0 / 6, 3.0 / 40, -15.0 / 336}, large));
}

Value expand::acosh(ScalarBuilder &s, Value x) { // either root is NaN below 1
  Value w = widen(s, x);
  return narrow(s, log64(s, s.add(w, s.mul(s.sqrt(s.sub(w, 1)), s.sqrt(s.add(w, 1))))));
}

Value expand::atanh(ScalarBuilder &s, Value x) {
  Value w = widen(s, x), one = s.f(w, 1);
  Value large = s.mul(log64(s, s.div(s.add(one, w), s.sub(one, w))), 0.5);
  return narrow(s, nearZero(s, w, 0x1p-6, s.mul(w, w), {1, 1.0 / 3, 1.0 / 5, 1.0 / 7}, large));
}

Value expand::pow(ScalarBuilder &s, Value x, Value y) {
  Value base = widen(s, x), exponent = widen(s, y);
  Value logarithm = s.mul(exponent, log64(s, s.abs(base)));
  return narrow(s, powCases(s, base, exponent, logarithm, exp64(s, logarithm)));
}
