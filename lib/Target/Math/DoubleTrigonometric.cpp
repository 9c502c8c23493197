// sin, cos, tan and their inverses of f64, for targets that have no library to call. Angles are sums of two numbers, of
// every finite argument: of large ones by integer arithmetic with all the bits of 2/pi that it takes.
#include "lib/Target/Math/Functions.h"
#include "lib/Target/Math/Twofold.h"
#include <cmath>

using namespace mlir;
using namespace sprig;
using namespace sprig::expand;
using expand::Value;

static constexpr double kHalfPi = 0x1.921fb54442d18p+0, kHalfPiLow = 0x1.1a62633145c07p-54;

namespace {
/// x = quadrant * pi/2 + rest; of the quadrant (i64) the last two bits count.
struct DoubleAngle {
  Twofold rest;
  Value quadrant;
};
} // namespace

// pi/2 in four parts; the first three have 33 bits, so their multiples up to 2^20 are exact.
static DoubleAngle reduceDoubleNear(ScalarBuilder &s, Value x) {
  Value shifted = s.fma(x, M_2_PI, kRound64);
  Value n = s.sub(shifted, kRound64);
  Value rest = s.fma(n, -0x1.921fb544p+0, x); // exact
  Twofold first = sumOfAny(s, rest, s.mul(n, -0x1.0b4611a6p-34));
  Twofold second = sumOfAny(s, first.high, s.mul(n, -0x1.3198a2ep-69));
  Value low = s.fma(n, -0x1.b839a252049c1p-104, s.add(second.low, first.low));
  return {sumOf(s, second.high, low), s.bits(shifted, s.b.getI64Type())};
}

// Four neighbouring words of 64 bits from the word `index` on, which is at most 16, of 64 zeros and then 2/pi.
static llvm::SmallVector<Value> wordsOfTwoOverPi(ScalarBuilder &s, Value index) {
  static constexpr uint64_t kWords[] = {0,
                                        0xa2f9836e4e441529,
                                        0xfc2757d1f534ddc0,
                                        0xdb6295993c439041,
                                        0xfe5163abdebbc561,
                                        0xb7246e3a424dd2e0,
                                        0x06492eea09d1921c,
                                        0xfe1deb1cb129a73e,
                                        0xe88235f52ebb4484,
                                        0xe99c7026b45f7e41,
                                        0x3991d639835339f4,
                                        0x9c845f8bbdf9283b,
                                        0x1ff897ffde05980f,
                                        0xef2f118b5a0a6d1f,
                                        0x6d367ecf27cb09b7,
                                        0x4f463f669e5fea2d,
                                        0x7527bac7ebe5f17b,
                                        0x3d0739f78a5292ea,
                                        0x6bfb5fb11f8d5d08,
                                        0x56033046fc7b6bab};
  llvm::SmallVector<Value> words;
  for (uint64_t word : kWords) words.push_back(s.i(index, static_cast<int64_t>(word)));
  // The words move down by each power of two that the index has.
  for (int64_t step : {16, 8, 4, 2, 1}) {
    Value moves = s.cmp(CmpIPredicate::ne, s.andi(index, step), 0);
    size_t needed = 4 + step - 1;
    llvm::SmallVector<Value> moved;
    for (size_t i = 0; i < needed; ++i)
      moved.push_back(i + step < words.size() ? s.select(moves, words[i + step], words[i]) : words[i]);
    words = moved;
  }
  return words;
}

// With |x| = m * 2^e, m of 53 bits: m times the 192 bits of 2/pi from the bit on whose product with m * 2^e weighs 2 m.
// Bits before it give multiples of 4 quadrants; what is after them is below 2^-137. `x` below 2^20: unused.
static DoubleAngle reduceDoubleFar(ScalarBuilder &s, Value x) {
  Type i64 = s.b.getI64Type(), f64 = s.b.getF64Type();
  Value bits = s.bits(x, i64);
  Value m = s.ori(s.andi(bits, (1ll << 52) - 1), 1ll << 52);
  Value first = s.addi(s.andi(s.shru(bits, 52), 2047), -1013); // into 64 zeros and 2/pi: e - 1 - 1 + 64
  first = arith::MaxSIOp::create(s.b, s.loc, first, s.i(first, 0));
  first = arith::MinSIOp::create(s.b, s.loc, first, s.i(first, 1033));
  Value shift = s.andi(first, 63), back = s.subi(s.i(shift, 63), shift);
  llvm::SmallVector<Value> words = wordsOfTwoOverPi(s, s.shru(first, 6)), window;
  for (int i = 0; i < 3; ++i) // words[i + 1] >> (64 - shift), also for a shift of 0
    window.push_back(s.ori(s.shl(words[i], shift), s.shru(s.shru(words[i + 1], 1), back)));
  // The product's upper 128 of 192 bits, mod 4 quadrants: high in units of 2^-62, low in such of 2^-126.
  auto whole = [&](Value word) { return arith::MulUIExtendedOp::create(s.b, s.loc, m, word); };
  auto middle = whole(window[1]), last = whole(window[2]);
  Value low = s.addi(middle.getLow(), last.getHigh());
  Value carry = s.to<arith::ExtUIOp>(s.cmp(CmpIPredicate::ult, low, middle.getLow()), i64);
  Value high = s.addi(s.addi(s.muli(m, window[0]), middle.getHigh()), carry);
  Value quadrant = s.shru(s.addi(high, 1ll << 61), 62);
  high = s.subi(high, s.shl(quadrant, 62));
  // Four numbers of 32 bits, of which the first has the sign.
  auto part = [&](Value of, double unit) { return s.mul(s.to<arith::SIToFPOp>(of, f64), unit); };
  constexpr int64_t kLower = 0xffffffff;
  Twofold upper = sumOf(s, part(s.shrs(high, 32), 0x1p-30), part(s.andi(high, kLower), 0x1p-62));
  Twofold rest = add(s, upper, {part(s.shru(low, 32), 0x1p-94), part(s.andi(low, kLower), 0x1p-126)});
  rest = mul(s, rest, constant(s, x, kHalfPi, kHalfPiLow));
  Value negative = s.lt(x, 0);
  return {select(s, negative, neg(s, rest), rest), s.select(negative, s.subi(s.i(bits, 0), quadrant), quadrant)};
}

static DoubleAngle reduceDouble(ScalarBuilder &s, Value x) {
  DoubleAngle near = reduceDoubleNear(s, x);
  auto chosen = replaceFar(s, isFar(s, s.abs(x), 0x1p20), {near.rest.high, near.rest.low, near.quadrant}, [&] {
    DoubleAngle far = reduceDoubleFar(s, x);
    return llvm::SmallVector<Value>{far.rest.high, far.rest.low, far.quadrant};
  });
  return {{chosen[0], chosen[1]}, chosen[2]};
}

static Twofold sinOfDoubleRest(ScalarBuilder &s, Twofold r) {
  Value square = s.mul(r.high, r.high);
  Value p = s.polynomial(square, {-1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800,
                                  -1.0 / 1307674368000, 1.0 / 355687428096000});
  Value low = s.fma(s.mul(square, r.low), s.f(square, -0.5), r.low);
  return sumOf(s, r.high, s.fma(s.mul(r.high, square), p, low));
}

static Twofold cosOfDoubleRest(ScalarBuilder &s, Twofold r) {
  Twofold square = productOf(s, r.high, r.high);
  Value p = s.polynomial(square.high, {1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
                                       -1.0 / 87178291200, 1.0 / 20922789888000, -1.0 / 6402373705728000});
  Value low = s.fma(square.low, s.f(square.low, -0.5), s.mul(r.high, s.neg(r.low)));
  Twofold near = sumOf(s, s.f(square.high, 1), s.mul(square.high, -0.5));
  return sumOf(s, near.high, s.add(near.low, s.fma(s.mul(square.high, square.high), p, low)));
}

// sin of x + shift * pi/2.
static Value sinOfShiftedDouble(ScalarBuilder &s, Value x, int64_t shift) {
  auto [rest, reduced] = reduceDouble(s, x);
  Value quadrant = shift ? s.addi(reduced, shift) : reduced;
  Value value = rounded(s, select(s, bitSet(s, quadrant, 1), cosOfDoubleRest(s, rest), sinOfDoubleRest(s, rest)));
  return s.select(bitSet(s, quadrant, 2), s.neg(value), value);
}

Value expand::sinDouble(ScalarBuilder &s, Value x) { return keepZero(s, x, sinOfShiftedDouble(s, x, 0)); }
Value expand::cosDouble(ScalarBuilder &s, Value x) { return sinOfShiftedDouble(s, x, 1); }

Value expand::tanDouble(ScalarBuilder &s, Value x) {
  auto [rest, quadrant] = reduceDouble(s, x);
  Twofold sine = sinOfDoubleRest(s, rest), cosine = cosOfDoubleRest(s, rest);
  Value odd = bitSet(s, quadrant, 1);
  Twofold tangent = div(s, select(s, odd, neg(s, cosine), sine), select(s, odd, sine, cosine));
  return keepZero(s, x, rounded(s, tangent));
}

// The angle of p / q, neither of them negative and one of them not zero. From t = p / q, at most 1 when they have
// changed places, to u = (t - c) / (1 + c t) = (p - c q) / (q + c p) with atan t = atan c + atan u and |u| < 0.24.
static Twofold angleOf(ScalarBuilder &s, Twofold p, Twofold q) {
  Value swapped = s.cmp(CmpFPredicate::OGT, p.high, q.high);
  Twofold small = select(s, swapped, q, p), large = select(s, swapped, p, q);
  auto above = [&](double bound) { return s.cmp(CmpFPredicate::OGT, small.high, s.mul(large.high, bound)); };
  Value aboveFirst = above(0.236), aboveSecond = above(0.7208);
  auto choose = [&](double first, double second, double third) {
    return s.select(aboveSecond, s.f(p.high, third), s.select(aboveFirst, s.f(p.high, second), s.f(p.high, first)));
  };
  Value c = choose(0, 0.5, 1); // its products are exact
  auto times = [&](Twofold a) { return Twofold{s.mul(a.high, c), s.mul(a.low, c)}; };
  Twofold u = div(s, add(s, small, neg(s, times(large))), add(s, large, times(small)));
  Value square = s.mul(u.high, u.high);
  llvm::SmallVector<double> series; // of atan u / u
  for (int i = 1; i <= 14; ++i) series.push_back((i % 2 ? -1.0 : 1.0) / (2 * i + 1));
  u = sumOf(s, u.high, s.fma(s.mul(u.high, square), s.polynomial(square, series), u.low));
  Twofold base{choose(0, 0x1.dac670561bb4fp-2, kHalfPi / 2), choose(0, 0x1.a2b7f222f65e2p-56, kHalfPiLow / 2)};
  Twofold angle = add(s, base, u);
  return select(s, swapped, add(s, constant(s, p.high, kHalfPi, kHalfPiLow), neg(s, angle)), angle);
}

Value expand::atanDouble(ScalarBuilder &s, Value x) {
  constexpr double kLarge = 1e300; // pi/2 from there on
  Value a = s.abs(x), bounded = s.select(s.gt(a, kLarge), s.f(a, kLarge), a);
  return s.copySign(rounded(s, angleOf(s, exactly(s, bounded), exactly(s, s.f(a, 1)))), x);
}

// The angle whose opposite is |x| and whose hypotenuse is 1; a root gives NaN beyond.
Value expand::asinDouble(ScalarBuilder &s, Value x) {
  Value a = s.abs(x), one = s.f(a, 1);
  Twofold square = mul(s, sumOfAny(s, one, s.neg(a)), sumOfAny(s, one, a));
  return s.copySign(rounded(s, angleOf(s, exactly(s, a), sqrt(s, square))), x);
}

// Twice the angle of sqrt(1 - x) / sqrt(1 + x).
Value expand::acosDouble(ScalarBuilder &s, Value x) {
  Value one = s.f(x, 1);
  Twofold opposite = sqrt(s, sumOfAny(s, one, s.neg(x))), adjacent = sqrt(s, sumOfAny(s, one, x));
  return s.mul(rounded(s, angleOf(s, opposite, adjacent)), 2.0);
}
