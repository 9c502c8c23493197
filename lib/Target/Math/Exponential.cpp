// exp, log, tanh and erf in f32: the functions of activations, so they stay in f32 throughout.
#include "lib/Target/Math/Functions.h"
#include <limits>

using namespace sprig;
using namespace sprig::expand;

// ln 2 in two parts; the first has 16 bits, so its multiples below 2^8 are exact.
static constexpr double kLn2High = 0.693145751953125, kLn2Low = 1.4286068203094173e-06;
static constexpr double kLog2E = 1.4426950408889634;

namespace {
/// x = n * ln 2 + r with |r| <= ln 2 / 2, and e^r - 1; NaN stays.
struct SplitExponent {
  Value shifted, growth; // n in the last bits of `shifted`
};
} // namespace

static SplitExponent splitExponent(ScalarBuilder &s, Value x) {
  Value shifted = s.fma(x, kLog2E, kRound32);
  Value n = s.sub(shifted, kRound32);
  Value r = s.fma(n, -kLn2Low, s.fma(n, -kLn2High, x));
  // e^r - 1 = r + r^2 P(r)
  Value p =
      s.polynomial(r, {0.5, 0.16666576305560638, 0.041666553762567636, 0.008363292753030603, 0.0013926325618133463});
  return {shifted, s.fma(s.mul(r, r), p, r)};
}

/// 2^n for a normal result.
static Value power(ScalarBuilder &s, Value exponent) {
  return s.bits(s.shl(s.addi(exponent, 127), 23), s.b.getF32Type());
}

/// The n of a reduced number.
static Value exponentOf(ScalarBuilder &s, Value shifted) {
  return s.addi(s.bits(shifted, s.b.getI32Type()), -kRound32Bits);
}

/// 1 - exp(x) for x in [-80, 0], with all of its bits near zero: (1 - 2^n) - 2^n * (e^r - 1).
static Value oneMinusExp(ScalarBuilder &s, Value x) {
  auto [shifted, growth] = splitExponent(s, x);
  Value scale = power(s, exponentOf(s, shifted));
  return s.fma(s.neg(scale), growth, s.sub(s.f(x, 1), scale));
}

// x 2^k in two steps, the last of which overflows or rounds to a denormal.
static Value inTwoSteps(ScalarBuilder &s, Value x, Value k) {
  Value half = s.shrs(k, 1);
  return s.mul(s.mul(x, power(s, half)), power(s, s.subi(k, half)));
}

Value sprig::timesPowerByBits(ScalarBuilder &s, Value x, Value n) {
  Value isZero = s.lt(n, -150.5), shifted = s.add(s.select(isZero, s.f(n, 0), n), kRound32);
  return s.select(isZero, s.f(x, 0), inTwoSteps(s, x, exponentOf(s, shifted)));
}

Value expand::exp(ScalarBuilder &s, Value x, const TimesPower &timesPower) {
  x = s.select(s.gt(x, 89), s.f(x, 89), x);
  // e^-104 rounds to zero.
  double lowest = timesPower ? -1000 : -105;
  x = s.select(s.lt(x, lowest), s.f(x, lowest), x);
  auto [shifted, growth] = splitExponent(s, x);
  Value e = s.add(growth, 1);
  if (timesPower) return timesPower(s, e, s.sub(shifted, kRound32));
  return inTwoSteps(s, e, exponentOf(s, shifted));
}

Value expand::log(ScalarBuilder &s, Value x) {
  // x = 2^e * (1 + f) with sqrt(1/2) <= 1 + f < sqrt(2); a denormal is scaled first.
  Value tiny = s.lt(x, 0x1p-126);
  Value bits = s.bits(s.select(tiny, s.mul(x, 0x1p23), x), s.b.getI32Type());
  Value exponent = s.shrs(s.addi(bits, -0x3f3504f3), 23);
  Value f = s.sub(s.bits(s.subi(bits, s.shl(exponent, 23)), s.b.getF32Type()), 1);
  Value e = s.to<mlir::arith::SIToFPOp>(exponent, s.b.getF32Type());
  e = s.select(tiny, s.sub(e, 23), e);
  // log(1 + f) = f - f^2 / 2 + f^3 P(f)
  Value square = s.mul(f, f);
  Value p = s.polynomial(f, {0.33333331179972575, -0.24999996957625975, 0.2000071576352166, -0.16667802367579132,
                             0.14249057141902147, -0.1242568569282142, 0.11685423571105265, -0.11479748625389889,
                             0.06971620541003427});
  Value low = s.fma(square, -0.5, s.fma(e, kLn2Low, s.mul(s.mul(f, square), p)));
  Value result = s.fma(e, kLn2High, s.add(f, low));
  Value other =
      s.select(s.cmp(CmpFPredicate::OEQ, x, 0), s.f(x, -kInfinity), s.f(x, std::numeric_limits<double>::quiet_NaN()));
  result = s.select(s.gt(x, 0), result, other);
  return s.select(s.cmp(CmpFPredicate::OEQ, x, kInfinity), x, result);
}

Value expand::tanh(ScalarBuilder &s, Value x) {
  // (1 - e) / (1 + e) with e = exp(-2|x|); from 10 on that is 1. Both sides have all of their bits.
  Value t = s.neg(s.abs(x));
  t = s.select(s.lt(t, -10), s.f(x, -10), t);
  auto [shifted, growth] = splitExponent(s, s.add(t, t));
  Value scale = power(s, exponentOf(s, shifted)), one = s.f(x, 1);
  Value difference = s.fma(s.neg(scale), growth, s.sub(one, scale)), sum = s.fma(scale, growth, s.add(one, scale));
  return s.copySign(s.div(difference, sum), x);
}

Value expand::erf(ScalarBuilder &s, Value x) {
  // 1 - exp(log(erfc(|x|))), where the logarithm is |x| times a polynomial whose first coefficient has two parts; from
  // 3.95 on that is 1.
  Value a = s.abs(x), t = s.select(s.gt(a, 3.95), s.f(x, 3.95), a);
  Value p = s.polynomial(t, {5.411926062848238e-08, -0.6366193819590455, -0.10277783055818782, 0.019153064055574525,
                             0.0001603958276838826, -0.0016670272579618005, 0.0006328367604987012,
                             -0.00011764124889409944, 9.256263067549687e-06});
  return s.copySign(oneMinusExp(s, s.fma(t, -1.128379225730896, s.mul(t, p))), x);
}
