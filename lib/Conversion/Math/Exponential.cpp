// exp, log, tanh and erf in f32: the functions of activations, so they stay in f32 throughout.
#include "lib/Conversion/Math/Functions.h"
#include <limits>

using namespace sprig;
using namespace sprig::expand;
using mlir::arith::CmpFPredicate;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
// ln 2 in two parts; the first has 16 bits, so its multiples below 2^8 are exact.
static constexpr double kLn2High = 0.693145751953125, kLn2Low = 1.4286068203094173e-06;
static constexpr double kLog2E = 1.4426950408889634;

/// exp of a number in [-105, 89] (NaN stays): 2^n * e^r with |r| <= ln 2 / 2.
static Value expInRange(ScalarBuilder &s, Value x) {
  Value shifted = s.fma(x, kLog2E, kRound32);
  Value n = s.sub(shifted, kRound32);
  Value r = s.fma(n, -kLn2Low, s.fma(n, -kLn2High, x));
  // e^r = 1 + r + r^2 P(r)
  Value p =
      s.polynomial(r, {0.5, 0.16666576305560638, 0.041666553762567636, 0.008363292753030603, 0.0013926325618133463});
  Value e = s.add(s.fma(s.mul(r, r), p, r), 1);
  // By 2^n in two steps, the last of which overflows or rounds to a denormal.
  Value k = s.addi(s.bits(shifted, s.b.getI32Type()), -kRound32Bits);
  Value half = s.shrs(k, 1), rest = s.subi(k, half);
  auto power = [&](Value exponent) { return s.bits(s.shl(s.addi(exponent, 127), 23), s.b.getF32Type()); };
  return s.mul(s.mul(e, power(half)), power(rest));
}

Value expand::exp(ScalarBuilder &s, Value x) {
  x = s.select(s.gt(x, 89), s.f(x, 89), x);
  x = s.select(s.lt(x, -105), s.f(x, -105), x);
  return expInRange(s, x);
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
  Value a = s.abs(x), square = s.mul(x, x);
  Value p = s.polynomial(square, {-0.3333333317214036, 0.1333330355691574, -0.053959259577204544, 0.02176891865102821,
                                  -0.008343945515839153, 0.002292744816178142});
  Value small = s.fma(s.mul(square, p), x, x);
  // 1 - 2 / (exp(2|x|) + 1); from 10 on that is 1.
  Value e = expInRange(s, s.mul(s.select(s.gt(a, 10), s.f(x, 10), a), 2));
  Value large = s.sub(s.f(x, 1), s.div(s.f(x, 2), s.add(e, 1)));
  return s.copySign(s.select(s.lt(a, 0.625), small, large), x);
}

Value expand::erf(ScalarBuilder &s, Value x) {
  Value a = s.abs(x), square = s.mul(x, x);
  Value p = s.polynomial(square, {0.12837916584835093, -0.37612626666720334, 0.11283594715160218, -0.026854212010626412,
                                  0.005189087423433974, -0.000801686428716587, 7.875875062685488e-05});
  Value small = s.fma(p, x, x);
  // 1 - exp(log(erfc(|x|))); from 3.95 on that is 1.
  Value t = s.select(s.gt(a, 3.95), s.f(x, 3.95), a);
  Value q = s.polynomial(t, {0.00040743654139918813, -1.130634449949712, -0.631033342397079, -0.11096526053336862,
                             0.027036872114743548, -0.005036591458218194, 0.0006775046517729247, -6.076342171680607e-05,
                             3.160588212664681e-06, -6.847706637677174e-08});
  Value large = s.sub(s.f(x, 1), expInRange(s, q));
  return s.select(s.lt(a, 1), small, s.copySign(large, x));
}
