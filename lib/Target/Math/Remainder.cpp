// The remainder of floats, digit by digit: what is left of x's integer is divided by y's, a few of its binary digits at
// a time, as many as 64 bits have room for.
#include "lib/Target/Math/Functions.h"
#include "lib/Target/Math/Twofold.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include <limits>

using namespace mlir;
using namespace sprig;
using namespace sprig::expand;
using expand::Value;

namespace {
// |x| = digits * 2^(exponent - bias), digits below 2^(mantissa + 1), exponent from 1 on; all of i64.
struct Parts {
  Value digits, exponent;
};
} // namespace

static Parts partsOf(ScalarBuilder &s, Value x, unsigned mantissa) {
  Type i64 = s.b.getI64Type();
  unsigned width = ScalarBuilder::widthOf(x);
  Value bits = s.bits(x, s.b.getIntegerType(width));
  if (width < 64) bits = s.to<arith::ExtUIOp>(bits, i64);
  Value field = s.andi(s.shru(bits, mantissa), (1ll << (width - 1 - mantissa)) - 1);
  Value fraction = s.andi(bits, (1ll << mantissa) - 1);
  Value isDenormal = s.cmp(CmpIPredicate::eq, field, 0);
  return {s.select(isDenormal, fraction, s.ori(fraction, 1ll << mantissa)), s.select(isDenormal, s.i(field, 1), field)};
}

// digits 2^places modulo `by`.
static Value reduceDigits(ScalarBuilder &s, Value digits, Value places, Value by, unsigned mantissa) {
  Value step = s.i(digits, 63 - mantissa); // binary digits at a time
  Value first = arith::RemUIOp::create(s.b, s.loc, digits, by);
  Type i64 = digits.getType();
  auto loop = scf::WhileOp::create(
      s.b, s.loc, TypeRange{i64, i64}, ValueRange{first, places},
      [&](OpBuilder &, Location, ValueRange carried) {
        scf::ConditionOp::create(s.b, s.loc, s.cmp(CmpIPredicate::sgt, carried[1], 0), carried);
      },
      [&](OpBuilder &, Location, ValueRange carried) {
        Value now = arith::MinSIOp::create(s.b, s.loc, carried[1], step);
        Value next = arith::RemUIOp::create(s.b, s.loc, s.shl(carried[0], now), by);
        scf::YieldOp::create(s.b, s.loc, ValueRange{next, s.subi(carried[1], now)});
      });
  return loop.getResult(0);
}

static Value remainderOfScalars(ScalarBuilder &s, Value x, Value y) {
  bool isDouble = x.getType().isF64();
  unsigned mantissa = isDouble ? 52 : 23;
  Parts a = partsOf(s, x, mantissa), b = partsOf(s, y, mantissa);
  Value magnitude = s.abs(x), divisor = s.abs(y);
  Value isUndefined = s.ori(s.ori(s.isNan(x), s.isNan(y)),
                            s.ori(s.cmp(CmpFPredicate::OEQ, divisor, 0),
                                  s.cmp(CmpFPredicate::OEQ, magnitude, std::numeric_limits<double>::infinity())));
  // Neither these nor smaller numbers take a step.
  Value isSmaller = s.cmp(CmpFPredicate::OLT, magnitude, divisor), isLeft = s.ori(isUndefined, isSmaller);
  Value places = s.select(isLeft, s.i(a.exponent, 0), s.subi(a.exponent, b.exponent));
  Value by = s.select(isLeft, s.i(b.digits, 1), b.digits);
  Value digits = reduceDigits(s, a.digits, places, by, mantissa);
  // Both products are exact: the number has no more digits than y, and none below y's last.
  Value wide = s.to<arith::UIToFPOp>(digits, s.b.getF64Type());
  Value result = scaled(s, wide, s.addi(b.exponent, isDouble ? -1075 : -150));
  if (!isDouble) result = narrow(s, result);
  result = s.copySign(s.select(isSmaller, magnitude, result), x);
  return s.select(isUndefined, s.f(x, std::numeric_limits<double>::quiet_NaN()), result);
}

Value expand::remainder(ScalarBuilder &s, Value x, Value y) {
  auto type = dyn_cast<VectorType>(x.getType());
  if (!type) return remainderOfScalars(s, x, y);
  // Each lane by itself: their numbers of steps differ.
  llvm::SmallVector<Value> lanes;
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    lanes.push_back(remainderOfScalars(s, vector::ExtractOp::create(s.b, s.loc, x, i),
                                       vector::ExtractOp::create(s.b, s.loc, y, i)));
  return vector::FromElementsOp::create(s.b, s.loc, type, lanes);
}
