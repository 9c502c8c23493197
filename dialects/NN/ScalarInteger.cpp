// Scalar bodies on integers and bits, and conversions.
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNUnary.h"
#include "dialects/NN/ScalarBodies.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <cmath>

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace sprig::ir {

Value NotOp::buildScalar(ScalarBuilder &s, ValueRange args) { return s.xori(args[0], -1); }
Value AndOp::buildScalar(ScalarBuilder &s, ValueRange args) { return s.andi(args[0], args[1]); }
Value OrOp::buildScalar(ScalarBuilder &s, ValueRange args) { return s.ori(args[0], args[1]); }
Value XorOp::buildScalar(ScalarBuilder &s, ValueRange args) { return s.xori(args[0], args[1]); }

// A shift by the width or more is poison: amounts are clamped first. A negative amount counts as large.
Value ShlOp::buildScalar(ScalarBuilder &s, ValueRange args) {
  Value x = args[0], zero = s.i(x, 0);
  Value inside = s.cmp(CmpIPredicate::ult, args[1], ScalarBuilder::widthOf(x));
  return s.select(inside, s.shl(x, s.select(inside, args[1], zero)), zero);
}
Value ShrOp::buildScalar(ScalarBuilder &s, ValueRange args) {
  Value x = args[0], last = s.i(x, ScalarBuilder::widthOf(x) - 1);
  Value inside = s.cmp(CmpIPredicate::ult, args[1], ScalarBuilder::widthOf(x));
  Value amount = s.select(inside, args[1], last);
  if (!elementOf(getLhs()).isUnsignedInteger()) return s.shrs(x, amount);
  return s.select(inside, s.shru(x, amount), s.i(x, 0));
}

Value buildIntegerDivision(ScalarBuilder &s, Value x, Value y, bool isUnsigned) {
  Value one = s.i(x, 1), zero = s.cmp(CmpIPredicate::eq, y, 0);
  if (isUnsigned) return arith::DivUIOp::create(s.b, s.loc, x, s.select(zero, one, y));
  Value minusOne = s.cmp(CmpIPredicate::eq, y, -1);
  Value quotient = arith::DivSIOp::create(s.b, s.loc, x, s.select(s.ori(zero, minusOne), one, y));
  return s.select(minusOne, s.subi(s.i(x, 0), x), quotient);
}

Value buildIntegerRemainder(ScalarBuilder &s, Value x, Value y, bool isUnsigned) {
  Value one = s.i(x, 1), zero = s.cmp(CmpIPredicate::eq, y, 0);
  if (isUnsigned) return arith::RemUIOp::create(s.b, s.loc, x, s.select(zero, one, y));
  Value minusOne = s.cmp(CmpIPredicate::eq, y, -1);
  return arith::RemSIOp::create(s.b, s.loc, x, s.select(s.ori(zero, minusOne), one, y));
}

Value buildIntegerPower(ScalarBuilder &s, Value x, Value y, bool baseUnsigned, bool exponentUnsigned) {
  auto index = [&](int64_t value) -> Value { return arith::ConstantIndexOp::create(s.b, s.loc, value); };
  auto loop =
      scf::ForOp::create(s.b, s.loc, index(0), index(ScalarBuilder::widthOf(y)), index(1), ValueRange{s.i(x, 1), x, y});
  {
    OpBuilder::InsertionGuard guard(s.b);
    s.b.setInsertionPointToStart(loop.getBody());
    Value result = loop.getRegionIterArg(0), square = loop.getRegionIterArg(1), rest = loop.getRegionIterArg(2);
    Value odd = s.cmp(CmpIPredicate::ne, s.andi(rest, 1), 0);
    result = s.select(odd, s.muli(result, square), result);
    scf::YieldOp::create(s.b, s.loc, ValueRange{result, s.muli(square, square), s.shru(rest, 1)});
  }
  Value power = loop.getResult(0);
  if (exponentUnsigned) return power;
  Value odd = s.cmp(CmpIPredicate::ne, s.andi(y, 1), 0), one = s.i(x, 1);
  Value quotient = s.select(s.cmp(CmpIPredicate::eq, x, 1), one, s.i(x, 0));
  if (!baseUnsigned) quotient = s.select(s.cmp(CmpIPredicate::eq, x, -1), s.select(odd, s.i(x, -1), one), quotient);
  return s.select(s.cmp(CmpIPredicate::slt, y, 0), quotient, power);
}

/// Rounds f64 to f32 to odd, so that a second rounding to a half type is right.
static Value roundToOdd(ScalarBuilder &s, Value x) {
  Type i32 = s.b.getI32Type();
  Value near = s.to<arith::TruncFOp>(x, s.b.getF32Type());
  Value back = s.to<arith::ExtFOp>(near, s.b.getF64Type());
  Value above = s.cmp(CmpFPredicate::OGT, s.abs(back), s.abs(x));
  Value exact = s.cmp(CmpFPredicate::UEQ, back, x); // NaN too
  Value bits = s.bits(near, i32);
  Value below = s.select(above, s.addi(bits, -1), bits);
  return s.bits(s.select(exact, bits, s.ori(below, 1)), s.b.getF32Type());
}

/// Float to integer: truncated, saturating, NaN to 0. Out of range the conversion itself is poison, so it gets 0 there.
static Value toInteger(ScalarBuilder &s, Value x, Type to) {
  unsigned width = to.getIntOrFloatBitWidth();
  bool isUnsigned = to.isUnsignedInteger();
  Type storage = IntegerType::get(to.getContext(), width), type = ScalarBuilder::like(x.getType(), storage);
  Value above = s.cmp(CmpFPredicate::OGE, x, std::ldexp(1.0, isUnsigned ? width : width - 1));
  // Of the doubles only, -2^63 - 1 is not a number: compare with the bound itself, which is in range.
  Value below = isUnsigned ? s.cmp(CmpFPredicate::OLE, x, -1) : s.lt(x, -std::ldexp(1.0, width - 1));
  Value outside = s.ori(s.isNan(x), s.ori(above, below));
  Value inside = s.select(outside, s.f(x, 0), x);
  Value result = isUnsigned ? s.to<arith::FPToUIOp>(inside, storage) : s.to<arith::FPToSIOp>(inside, storage);
  APInt most = isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width);
  APInt least = isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width);
  result = s.select(above, s.i(type, most), result);
  return s.select(below, s.i(type, least), result);
}

Value buildCast(ScalarBuilder &s, Value x, Type from, Type to) {
  auto isHalf = [](Type type) { return type.isF16() || type.isBF16(); };
  Type have = ScalarBuilder::elementOf(x);
  bool isUnsigned = from.isUnsignedInteger() || from.isInteger(1);
  if (isa<FloatType>(have)) {
    if (to.isInteger(1)) return s.cmp(CmpFPredicate::UNE, x, 0);
    if (!isa<FloatType>(to)) return toInteger(s, x, to);
    if (isHalf(to) && have.isF64()) return roundToOdd(s, x);
    if (to.isF64() == have.isF64()) return x;
    return to.isF64() ? s.to<arith::ExtFOp>(x, s.b.getF64Type()) : s.to<arith::TruncFOp>(x, s.b.getF32Type());
  }
  if (to.isInteger(1)) return have.isInteger(1) ? x : s.cmp(CmpIPredicate::ne, x, 0);
  if (isa<FloatType>(to)) {
    Type compute = isHalf(to) ? s.b.getF32Type() : to;
    return isUnsigned ? s.to<arith::UIToFPOp>(x, compute) : s.to<arith::SIToFPOp>(x, compute);
  }
  Type storage = IntegerType::get(to.getContext(), to.getIntOrFloatBitWidth());
  unsigned width = have.getIntOrFloatBitWidth(), want = to.getIntOrFloatBitWidth();
  if (width == want) return x;
  if (width > want) return s.to<arith::TruncIOp>(x, storage);
  return isUnsigned ? s.to<arith::ExtUIOp>(x, storage) : s.to<arith::ExtSIOp>(x, storage);
}

/// The 16 bits of a half type from its value in f32, which is exact.
static Value halfToBits(ScalarBuilder &s, Value x, bool bfloat) {
  Type i16 = s.b.getIntegerType(16);
  Value bits = s.bits(x, s.b.getI32Type());
  if (bfloat) return s.to<arith::TruncIOp>(s.shru(bits, 16), i16);
  Value magnitude = s.andi(bits, 0x7fffffff);
  Value normal = s.shru(s.addi(magnitude, -(112ll << 23)), 13);
  Value special = s.ori(s.andi(s.shru(magnitude, 13), 0x3ff), 0x7c00);
  Value tiny = s.cmp(CmpIPredicate::ult, magnitude, 113ll << 23);
  Value scaled = s.select(tiny, s.mul(s.abs(x), 0x1p24), s.f(x, 0)); // a whole number below 2^10
  Value result = s.select(tiny, s.to<arith::FPToSIOp>(scaled, s.b.getI32Type()), normal);
  result = s.select(s.cmp(CmpIPredicate::uge, magnitude, 255ll << 23), special, result);
  return s.to<arith::TruncIOp>(s.ori(result, s.andi(s.shru(bits, 16), 0x8000)), i16);
}

/// The value in f32 of 16 bits of a half type.
static Value bitsToHalf(ScalarBuilder &s, Value x, bool bfloat) {
  Type i32 = s.b.getI32Type(), f32 = s.b.getF32Type();
  Value bits = s.to<arith::ExtUIOp>(x, i32);
  if (bfloat) return s.bits(s.shl(bits, 16), f32);
  Value magnitude = s.andi(bits, 0x7fff), wide = s.shl(magnitude, 13);
  Value tiny = s.bits(s.mul(s.to<arith::SIToFPOp>(magnitude, f32), 0x1p-24), i32);
  Value result = s.select(s.cmp(CmpIPredicate::ult, magnitude, 0x400), tiny, s.addi(wide, 112ll << 23));
  result = s.select(s.cmp(CmpIPredicate::uge, magnitude, 0x7c00), s.ori(wide, 255ll << 23), result);
  return s.bits(s.ori(result, s.shl(s.andi(bits, 0x8000), 16)), f32);
}

Value buildBitcast(ScalarBuilder &s, Value x, Type from, Type to) {
  auto isHalf = [](Type type) { return type.isF16() || type.isBF16(); };
  Value bits = isHalf(from) ? halfToBits(s, x, from.isBF16()) : x;
  if (isHalf(to)) return bitsToHalf(s, bits, to.isBF16());
  Type want = isa<FloatType>(to) ? to : IntegerType::get(to.getContext(), to.getIntOrFloatBitWidth());
  return ScalarBuilder::elementOf(bits) == want ? bits : s.bits(bits, want);
}

} // namespace sprig::ir
