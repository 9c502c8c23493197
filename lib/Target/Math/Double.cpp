// exp, log and pow of f64, for targets that have no library to call. A logarithm is a sum of two numbers, so that its
// multiples by large exponents lose nothing.
#include "lib/Target/Math/Functions.h"
#include "lib/Target/Math/Twofold.h"
#include <limits>

using namespace sprig;
using namespace sprig::expand;

// e^(high + low): 2^n e^r with |r| < 0.35, by the series of e^r.
static Value exponential(ScalarBuilder &s, Twofold x) {
  constexpr double kBeyond = 800; // the logarithm of every result
  Value isBeyond = s.gt(s.abs(x.high), kBeyond);
  Value high = s.select(isBeyond, s.copySign(s.f(x.high, kBeyond), x.high), x.high);
  Value low = s.select(isBeyond, s.f(x.low, 0), x.low);
  Value shifted = s.fma(high, 1.4426950408889634, kRound64);
  Value n = s.sub(shifted, kRound64);
  Value r = s.add(s.fma(n, -kLn2Low64, s.fma(n, -kLn2High64, high)), low);
  llvm::SmallVector<double> series;
  double factorial = 1;
  for (int i = 2; i <= 14; ++i) series.push_back(1 / (factorial *= i));
  Value e = s.add(s.fma(s.mul(r, r), s.polynomial(r, series), r), 1);
  return scaled(s, e, s.addi(s.bits(shifted, s.b.getI64Type()), -kRound64Bits));
}

// log x of a positive finite x = 2^e m with m from sqrt(1/2) to sqrt(2): e ln 2 + 2 atanh(t), t = (m - 1) / (m + 1)
// in two parts, by the series of atanh.
Twofold expand::logarithmOf(ScalarBuilder &s, Value x) {
  Value isDenormal = s.lt(x, std::numeric_limits<double>::min());
  Value bits = s.bits(s.select(isDenormal, s.mul(x, 0x1p54), x), s.b.getI64Type());
  Value exponent = s.shrs(s.addi(bits, -0x3fe6a09e667f3bcd), 52);
  Value m = s.bits(s.subi(bits, s.shl(exponent, 52)), s.b.getF64Type());
  Value e = s.sub(s.bits(s.addi(exponent, kRound64Bits), s.b.getF64Type()), kRound64);
  e = s.select(isDenormal, s.sub(e, 54), e);
  Value numerator = s.sub(m, 1); // exact
  Twofold denominator = sumOfAny(s, m, s.f(m, 1));
  Value t = s.div(numerator, denominator.high);
  Value rest = s.sub(s.fma(s.neg(t), denominator.high, numerator), s.mul(t, denominator.low));
  rest = s.div(rest, denominator.high);
  Value twice = s.add(t, t), twiceRest = s.add(rest, rest);
  // The series' first two members in two parts each: 2t, and 2t^3/3.
  constexpr double kThird = 1.0 / 3, kThirdLow = 0x1.5555555555555p-56;
  Value square = s.mul(t, t), squareLow = s.fma(twice, rest, s.fma(t, t, s.neg(square)));
  Value cube = s.mul(twice, square);
  Value cubeLow = s.fma(twice, squareLow, s.fma(twiceRest, square, s.fma(twice, square, s.neg(cube))));
  Value term = s.mul(cube, kThird);
  Value termLow = s.add(s.fma(cube, kThird, s.neg(term)), s.fma(cube, kThirdLow, s.mul(cubeLow, kThird)));
  llvm::SmallVector<double> series;
  for (int i = 2; i <= 11; ++i) series.push_back(1.0 / (2 * i + 1));
  Value beyond = s.add(s.fma(s.mul(cube, square), s.polynomial(square, series), termLow), twiceRest);
  Twofold sum = sumOf(s, s.mul(e, kLn2High64), twice), both = sumOf(s, sum.high, term);
  return sumOf(s, both.high, s.add(s.add(sum.low, both.low), s.fma(e, kLn2Low64, beyond)));
}

// The logarithm of any number that is not below zero.
static Twofold logarithm(ScalarBuilder &s, Value x) {
  Twofold found = logarithmOf(s, x);
  Value isUsual = s.andi(s.gt(x, 0), s.lt(x, kInfinity));
  Value other = s.select(s.cmp(CmpFPredicate::OEQ, x, 0), s.f(x, -kInfinity), x);
  return {s.select(isUsual, found.high, other), s.select(isUsual, found.low, s.f(x, 0))};
}

Value expand::expDouble(ScalarBuilder &s, Value x) { return exponential(s, exactly(s, x)); }

Value expand::logDouble(ScalarBuilder &s, Value x) {
  Twofold found = logarithm(s, x);
  return s.select(s.lt(x, 0), s.f(x, std::numeric_limits<double>::quiet_NaN()), s.add(found.high, found.low));
}

Value expand::powCases(ScalarBuilder &s, Value x, Value y, Value logarithm, Value found) {
  Value one = s.f(found, 1);
  Value result = s.select(s.cmp(CmpFPredicate::OEQ, logarithm, kInfinity), s.f(found, kInfinity), found);
  result = s.select(s.cmp(CmpFPredicate::OEQ, logarithm, -kInfinity), s.f(result, 0), result);
  Value unit = s.andi(s.cmp(CmpFPredicate::OEQ, s.abs(x), 1), s.cmp(CmpFPredicate::ORD, y, y));
  result = s.select(unit, one, result);
  auto isWhole = [&](Value v) {
    return s.cmp(CmpFPredicate::OEQ, Value(mlir::math::TruncOp::create(s.b, s.loc, v)), v);
  };
  Value whole = isWhole(y);
  Value finite = s.cmp(CmpFPredicate::OLT, s.abs(y), kInfinity);
  Value odd = s.andi(s.andi(whole, finite), s.xori(isWhole(s.mul(y, 0.5)), -1));
  result = s.select(odd, s.copySign(result, x), result);
  Value undefined = s.andi(s.lt(x, 0), s.andi(s.cmp(CmpFPredicate::OGT, x, -kInfinity), s.xori(whole, -1)));
  result = s.select(undefined, s.f(result, std::numeric_limits<double>::quiet_NaN()), result);
  Value always = s.ori(s.cmp(CmpFPredicate::OEQ, y, 0), s.cmp(CmpFPredicate::OEQ, x, 1));
  return s.select(always, one, result);
}

Value expand::powDouble(ScalarBuilder &s, Value x, Value y) {
  Twofold log = logarithm(s, s.abs(x));
  Value high = s.mul(y, log.high);
  Value low = s.fma(y, log.low, s.fma(y, log.high, s.neg(high)));
  return powCases(s, x, y, high, exponential(s, {high, low}));
}
