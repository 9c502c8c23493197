// sin, cos, tan and their inverses. The argument is reduced to [-pi/4, pi/4]: of sin and cos in f32, the functions of
// activations, of tan in f64; of large numbers by integer arithmetic with as many bits of 2/pi as every finite float
// needs, on a path that is branched to only then.
#include "lib/Target/Math/Functions.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <cmath>

using namespace mlir;
using namespace sprig;
using namespace sprig::expand;
using expand::Value;

namespace {
/// x = quadrant * pi/2 + rest; of the quadrant the last two bits count.
struct Angle {
  Value rest, quadrant; // f64 and i64, or f32 and i32
};
} // namespace

// pi/2 in three parts; the first two have 33 bits, so their multiples up to 2^20 are exact.
static Angle reduceNear(ScalarBuilder &s, Value x) {
  Value shifted = s.fma(x, M_2_PI, kRound64);
  Value n = s.sub(shifted, kRound64);
  Value rest = s.fma(n, -0x1.921fb544p+0, x);
  rest = s.fma(n, -0x1.0b4611a4p-34, rest);
  rest = s.fma(n, -0x1.13198a2e03707p-65, rest);
  return {rest, s.bits(shifted, s.b.getI64Type())};
}

// With |x| = m * 2^e, m of 24 bits: m times the 96 bits of 2/pi from the bit on whose product with m * 2^e weighs 2.
// Bits before it give multiples of 4 quadrants; those after are below 2^-70. `x` is f32, below 2^20 the result is
// unused.
static Angle reduceFar(ScalarBuilder &s, Value x) {
  Type i64 = s.b.getI64Type();
  Value bits = s.to<arith::ExtUIOp>(s.bits(x, s.b.getI32Type()), i64);
  Value m = s.ori(s.andi(bits, 0x7fffff), 0x800000);
  Value first = s.addi(s.andi(s.shru(bits, 23), 255), -120); // into 2/pi after 32 zeros: e - 150 + 30
  // The bits of 2/pi, 32 a word. Four neighbouring words hold the 96 bits.
  static constexpr int64_t kTwoOverPi[] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                           0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};
  Value index = s.shru(first, 5), shift = s.andi(first, 31);
  auto word = [&](int64_t offset) {
    Value chosen = s.i(bits, kTwoOverPi[offset]);
    for (int64_t i = 1; i <= 4; ++i)
      chosen = s.select(s.cmp(CmpIPredicate::eq, index, i), s.i(bits, kTwoOverPi[i + offset]), chosen);
    return chosen;
  };
  Value high = s.ori(s.shl(word(0), 32), word(1)), low = s.ori(s.shl(word(2), 32), word(3));
  Value carry = s.shru(s.shru(low, 1), s.subi(s.i(bits, 63), shift)); // low >> (64 - shift), also for 0
  Value window = s.ori(s.shl(high, shift), carry), next = s.shru(s.shl(low, shift), 32);
  Value product = s.addi(s.muli(m, window), s.shru(s.muli(m, next), 32)); // mod 4 quadrants, in units of 2^-62
  Value quadrant = s.shru(s.addi(product, 1ll << 61), 62);
  Value fraction = s.subi(product, s.shl(quadrant, 62));
  Value rest = s.mul(s.to<arith::SIToFPOp>(fraction, s.b.getF64Type()), M_PI_2 * 0x1p-62);
  Value negative = s.lt(x, 0);
  return {s.select(negative, s.neg(rest), rest), s.select(negative, s.subi(s.i(bits, 0), quadrant), quadrant)};
}

llvm::SmallVector<Value> expand::replaceFar(ScalarBuilder &s, Value far, ValueRange near,
                                            llvm::function_ref<llvm::SmallVector<Value>()> slow) {
  Value any = far;
  if (isa<VectorType>(far.getType())) any = vector::ReductionOp::create(s.b, s.loc, vector::CombiningKind::OR, far);
  auto branch = scf::IfOp::create(s.b, s.loc, near.getTypes(), any, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(s.b);
  s.b.setInsertionPointToStart(branch.thenBlock());
  llvm::SmallVector<Value> chosen;
  for (auto [other, value] : llvm::zip_equal(slow(), near)) chosen.push_back(s.select(far, other, value));
  scf::YieldOp::create(s.b, s.loc, chosen);
  s.b.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(s.b, s.loc, near);
  return branch.getResults();
}

static Angle branch(ScalarBuilder &s, Angle near, Value far, llvm::function_ref<Angle()> slow) {
  auto chosen = replaceFar(s, far, {near.rest, near.quadrant}, [&] {
    Angle other = slow();
    return llvm::SmallVector<Value>{other.rest, other.quadrant};
  });
  return {chosen[0], chosen[1]};
}

Value expand::isFar(ScalarBuilder &s, Value magnitude, double bound) {
  return s.andi(s.cmp(CmpFPredicate::OGE, magnitude, bound), s.cmp(CmpFPredicate::OLT, magnitude, INFINITY));
}

static Angle reduce(ScalarBuilder &s, Value x) {
  Value wide = widen(s, x);
  return branch(s, reduceNear(s, wide), isFar(s, s.abs(wide), 0x1p20), [&] { return reduceFar(s, x); });
}

// In f32, with pi/2 in four parts: multiples of the first three, of 13 bits each, are exact up to 2^11.
static Angle reduce32(ScalarBuilder &s, Value x) {
  Value shifted = s.fma(x, M_2_PI, kRound32);
  Value n = s.sub(shifted, kRound32), rest = x;
  for (double part : {-0x1.921p+0, -0x1.f6ap-13, -0x1.11p-26, -0x1.68c234c4c6629p-39}) rest = s.fma(n, part, rest);
  Type i32 = s.b.getI32Type();
  return branch(s, {rest, s.bits(shifted, i32)}, isFar(s, s.abs(x), 0x1p11), [&] {
    Angle far = reduce(s, x);
    return Angle{narrow(s, far.rest), s.to<arith::TruncIOp>(far.quadrant, i32)};
  });
}

static Value sinOfRest(ScalarBuilder &s, Value r) {
  Value square = s.mul(r, r);
  Value p = s.polynomial(square, {-0.16666666666666666, 0.008333333333330946, -0.0001984126983675497,
                                  2.755731610068303e-06, -2.5051131455427946e-08, 1.591810123027412e-10});
  return s.mul(r, s.fma(square, p, 1.0)); // a product keeps the sign of zero
}

static Value cosOfRest(ScalarBuilder &s, Value r) {
  Value square = s.mul(r, r);
  Value p = s.polynomial(square, {0.041666666666666664, -0.0013888888888887395, 2.4801587298763433e-05,
                                  -2.7557317270560326e-07, 2.0876146024689747e-09, -1.1382614868556325e-11});
  return s.fma(s.mul(square, square), p, s.fma(square, -0.5, 1.0));
}

Value expand::bitSet(ScalarBuilder &s, Value quadrant, int64_t bit) {
  return s.cmp(CmpIPredicate::ne, s.andi(quadrant, bit), 0);
}

/// sin of x + shift * pi/2.
static Value sinShifted(ScalarBuilder &s, Value x, int64_t shift) {
  auto [rest, reduced] = reduce32(s, x);
  Value quadrant = shift ? s.addi(reduced, shift) : reduced, square = s.mul(rest, rest);
  Value p = s.polynomial(square, {-0.16666653192137765, 0.008332070879198962, -0.00019503068282864127});
  Value sine = s.copySign(s.fma(s.mul(square, rest), p, rest), rest); // the sum has lost the sign of zero
  Value q = s.polynomial(square, {0.041666643182771135, -0.0013887194225214751, 2.4419196289744263e-05});
  Value cosine = s.fma(s.mul(square, square), q, s.fma(square, -0.5, s.f(square, 1)));
  Value value = s.select(bitSet(s, quadrant, 1), cosine, sine);
  // The second bit of the quadrant is the sign.
  Type i32 = s.b.getI32Type(), f32 = s.b.getF32Type();
  Value sign = s.shl(s.andi(quadrant, 2), 30);
  return s.bits(s.xori(s.bits(value, i32), sign), f32);
}

Value expand::sin(ScalarBuilder &s, Value x) { return sinShifted(s, x, 0); }
Value expand::cos(ScalarBuilder &s, Value x) { return sinShifted(s, x, 1); }

Value expand::tan(ScalarBuilder &s, Value x) {
  Angle r = reduce(s, x);
  Value sine = sinOfRest(s, r.rest), cosine = cosOfRest(s, r.rest), odd = bitSet(s, r.quadrant, 1);
  return narrow(s, s.div(s.select(odd, s.neg(cosine), sine), s.select(odd, sine, cosine)));
}

// atan(a) = pi/2 - atan(1/a); atan(t) = pi/4 + atan((t - 1) / (t + 1)).
Value expand::atan(ScalarBuilder &s, Value x) {
  Value w = widen(s, x), a = s.abs(w), large = s.gt(a, 1);
  Value t = s.select(large, s.div(s.f(a, 1), a), a);
  Value middle = s.gt(t, 0.41421356);
  Value u = s.select(middle, s.div(s.sub(t, 1), s.add(t, 1)), t), square = s.mul(u, u);
  Value p =
      s.polynomial(square, {-0.33333333333266185, 0.19999999949844743, -0.1428570810931349, 0.1111081967629723,
                            -0.09084101157831999, 0.07604793194731718, -0.06027276100562842, 0.032956234567646785});
  Value angle = s.fma(s.mul(square, p), u, u);
  angle = s.select(middle, s.add(angle, M_PI_4), angle);
  angle = s.select(large, s.sub(s.f(angle, M_PI_2), angle), angle);
  return narrow(s, s.copySign(angle, w));
}

/// asin of a number in [-1/2, 1/2], in f64.
static Value asinNear(ScalarBuilder &s, Value w) {
  Value square = s.mul(w, w);
  Value p = s.polynomial(square, {0.1666666666666216, 0.07500000003599422, 0.044642852420329455, 0.030382183571536783,
                                  0.022366048091739782, 0.017441719105456513, 0.013186282871554133,
                                  0.015682585691969324, -0.0029555479088451027, 0.027921912047656466});
  return s.fma(s.mul(square, p), w, w);
}

namespace {
/// Steps that asin and acos share: `near` is asin(w) where |w| <= 1/2, else asin(sqrt((1 - |w|) / 2)).
struct ArcSine {
  Value w, small, angle;
};
} // namespace

static ArcSine arcSine(ScalarBuilder &s, Value x) {
  Value w = widen(s, x), a = s.abs(w), small = s.cmp(CmpFPredicate::OLE, a, 0.5);
  Value root = s.sqrt(s.mul(s.sub(s.f(a, 1), a), 0.5)); // NaN beyond 1
  return {w, small, asinNear(s, s.select(small, w, root))};
}

Value expand::asin(ScalarBuilder &s, Value x) {
  auto [w, small, angle] = arcSine(s, x);
  Value large = s.copySign(s.sub(s.f(w, M_PI_2), s.mul(angle, 2)), w);
  return narrow(s, s.select(small, angle, large));
}

Value expand::acos(ScalarBuilder &s, Value x) {
  auto [w, small, angle] = arcSine(s, x);
  Value twice = s.mul(angle, 2);
  Value large = s.select(s.lt(w, 0), s.sub(s.f(w, M_PI), twice), twice);
  return narrow(s, s.select(small, s.sub(s.f(w, M_PI_2), angle), large));
}
