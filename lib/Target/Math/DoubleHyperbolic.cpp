// expm1, log1p and the hyperbolic functions of f64 with their inverses, for targets that have no library to call.
#include "lib/Target/Math/Functions.h"
#include "lib/Target/Math/Twofold.h"
#include <limits>

using namespace sprig;
using namespace sprig::expand;

static constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
static constexpr double kBeyond = 800; // of sinh, cosh and expm1, which are infinite there

// 1/first!, 1/(first + step)!, ...
static llvm::SmallVector<double> inverseFactorials(int first, int step, int count) {
  llvm::SmallVector<double> series;
  double factorial = 1;
  for (int i = 2, next = first; static_cast<int>(series.size()) < count; ++i) {
    factorial *= i;
    if (i != next) continue;
    series.push_back(1 / factorial);
    next += step;
  }
  return series;
}

namespace {
// x = n ln 2 + r with |r| <= ln 2 / 2.
struct ReducedExponent {
  Value n; // i64
  Twofold r;
};
} // namespace

static ReducedExponent reduceExponent(ScalarBuilder &s, Value x) {
  Value shifted = s.fma(x, 1.4426950408889634, kRound64);
  Value n = s.sub(shifted, kRound64);
  Twofold low = productOf(s, n, s.f(n, kLn2Low64));
  Twofold r = sumOfAny(s, s.fma(n, -kLn2High64, x), s.neg(low.high));
  return {s.addi(s.bits(shifted, s.b.getI64Type()), -kRound64Bits), {r.high, s.sub(r.low, low.low)}};
}

// 2^n ((1 - 2^-n) + (e^r - 1)).
Value expand::expm1Double(ScalarBuilder &s, Value x) {
  Value bounded = s.select(s.gt(x, kBeyond), s.f(x, kBeyond), x);
  bounded = s.select(s.lt(bounded, -40), s.f(x, -40), bounded); // -1 from there on
  auto [n, r] = reduceExponent(s, bounded);
  // e^r - 1 = r + r^2/2 + ...
  Twofold square = productOf(s, r.high, r.high), first = sumOf(s, r.high, s.mul(square.high, 0.5));
  Value rest = s.mul(s.mul(r.high, square.high), s.polynomial(r.high, inverseFactorials(3, 1, 12)));
  rest = s.add(rest, s.fma(square.low, s.f(x, 0.5), s.fma(r.low, r.high, r.low)));
  Value isLarge = s.cmp(CmpIPredicate::sgt, n, 60);
  Value inverse = powerOfTwo(s, s.subi(s.i(n, 0), s.select(isLarge, s.i(n, 60), n)));
  inverse = s.select(isLarge, s.f(inverse, 0), inverse);
  Twofold whole = sumOfAny(s, s.f(x, 1), s.neg(inverse));
  return keepZero(s, x, scaled(s, rounded(s, add(s, whole, {first.high, s.add(first.low, rest)})), n));
}

namespace {
// sinh and cosh of |x|, times 2^-n.
struct SinhCosh {
  Twofold sinh, cosh;
  Value n;
};
} // namespace

// With e^|x| = 2^n e^r and u = 2^-2n: 2 sinh |x| = 2^n ((1 - u) cosh r + (1 + u) sinh r), and cosh likewise.
static SinhCosh sinhCosh(ScalarBuilder &s, Value x, double bound) {
  Value a = s.abs(x);
  auto [n, r] = reduceExponent(s, s.select(s.gt(a, bound), s.f(a, bound), a));
  Value square = s.mul(r.high, r.high);
  Value sinhLow = s.fma(s.mul(r.high, square), s.polynomial(square, inverseFactorials(3, 2, 7)), r.low);
  Value growth = s.fma(square, s.polynomial(square, inverseFactorials(2, 2, 8)), s.mul(r.high, r.low)); // cosh r - 1
  Value isLarge = s.cmp(CmpIPredicate::sgt, n, 30);
  Value u = powerOfTwo(s, s.muli(s.select(isLarge, s.i(n, 30), n), s.i(n, -2)));
  u = s.select(isLarge, s.f(u, 0), u);
  Value half = s.f(u, 0.5), halfOfU = s.mul(u, 0.5);
  Twofold less = sumOf(s, half, s.neg(halfOfU)), more = sumOf(s, half, halfOfU);
  auto combine = [&](Twofold ofCosh, Twofold ofSinh) {
    Twofold odd = productOf(s, ofSinh.high, r.high), sum = sumOfAny(s, ofCosh.high, odd.high);
    Value low = s.fma(ofCosh.high, growth, s.fma(ofSinh.high, sinhLow, odd.low));
    low = s.add(low, s.fma(ofSinh.low, r.high, ofCosh.low));
    return sumOf(s, sum.high, s.add(sum.low, low));
  };
  return {combine(less, more), combine(more, less), n};
}

Value expand::sinhDouble(ScalarBuilder &s, Value x) {
  SinhCosh both = sinhCosh(s, x, kBeyond);
  return s.copySign(scaled(s, rounded(s, both.sinh), both.n), x);
}

Value expand::coshDouble(ScalarBuilder &s, Value x) {
  SinhCosh both = sinhCosh(s, x, kBeyond);
  return scaled(s, rounded(s, both.cosh), both.n);
}

Value expand::tanhDouble(ScalarBuilder &s, Value x) {
  SinhCosh both = sinhCosh(s, x, 40); // 1 from there on
  return s.copySign(rounded(s, div(s, both.sinh, both.cosh)), x);
}

// log(1 + y) of a finite y above -1: log z + (rest / z - ...), z being 1 + y without the rest.
static Twofold log1pOf(ScalarBuilder &s, Twofold y) {
  Twofold z = sumOfAny(s, s.f(y.high, 1), y.high), log = logarithmOf(s, z.high);
  Twofold rest = div(s, sumOfAny(s, z.low, y.low), exactly(s, z.high)), sum = add(s, log, rest);
  return {sum.high, s.fma(s.mul(rest.high, rest.high), s.f(rest.high, -0.5), sum.low)};
}

Value expand::log1pDouble(ScalarBuilder &s, Value x) {
  Value result = rounded(s, log1pOf(s, exactly(s, x)));
  Value isUsual = s.andi(s.gt(x, -1), s.lt(x, kInfinity));
  Value other = s.select(s.lt(x, -1), s.f(x, kNan), s.select(s.cmp(CmpFPredicate::OEQ, x, -1), s.f(x, -kInfinity), x));
  return keepZero(s, x, s.select(isUsual, result, other));
}

// From here on asinh and acosh are log 2x.
static constexpr double kFar = 0x1p30;

// log 2x where x is far, else `near`.
static Value logarithmOfTwice(ScalarBuilder &s, Value x, Twofold near) {
  Value isFar = s.andi(s.gt(x, kFar), s.lt(x, kInfinity));
  Twofold far = add(s, logarithmOf(s, s.select(isFar, x, s.f(x, kFar))),
                    constant(s, x, 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56));
  Value result = rounded(s, select(s, isFar, far, near));
  return s.select(s.cmp(CmpFPredicate::OEQ, x, kInfinity), x, result);
}

// log(a + root) = log1p(a + a^2 / (1 + root)), root = sqrt(1 + a^2), of a = |x|.
Value expand::asinhDouble(ScalarBuilder &s, Value x) {
  Value a = s.abs(x), bounded = s.select(s.gt(a, kFar), s.f(a, kFar), a);
  Twofold one = exactly(s, s.f(a, 1)), square = productOf(s, bounded, bounded);
  Twofold root = sqrt(s, add(s, one, square));
  Twofold y = add(s, exactly(s, bounded), div(s, square, add(s, one, root)));
  return s.copySign(keepZero(s, a, logarithmOfTwice(s, a, log1pOf(s, y))), x);
}

// log(x + root) = log1p((x - 1) + root), root = sqrt((x - 1) (x + 1)).
Value expand::acoshDouble(ScalarBuilder &s, Value x) {
  Value bounded = s.select(s.gt(x, kFar), s.f(x, kFar), x);
  Twofold less = sumOfAny(s, bounded, s.f(x, -1)), more = sumOfAny(s, bounded, s.f(x, 1));
  Twofold y = add(s, less, sqrt(s, mul(s, less, more)));
  Value result = logarithmOfTwice(s, x, log1pOf(s, y));
  return s.select(s.lt(x, 1), s.f(x, kNan), result);
}

// log1p(2a / (1 - a)) / 2 of a = |x|.
Value expand::atanhDouble(ScalarBuilder &s, Value x) {
  Value a = s.abs(x), isInside = s.lt(a, 1), inside = s.select(isInside, a, s.f(a, 0.5));
  Twofold y = div(s, exactly(s, s.add(inside, inside)), sumOfAny(s, s.f(a, 1), s.neg(inside)));
  Value result = s.mul(rounded(s, log1pOf(s, y)), 0.5);
  Value other = s.select(s.cmp(CmpFPredicate::OEQ, a, 1), s.f(a, kInfinity), s.f(a, kNan));
  return s.copySign(keepZero(s, a, s.select(isInside, result, other)), x);
}
