// Arithmetic of floats. Results are rounded as the instruction says; what PTX only bounds (.approx, .full) is computed
// to the nearest float, which lies within every documented bound. Results that are NaN keep the host's bits, but for
// min, max and conversions, whose NaN is PTX's canonical one.
#include "test/gpu/image/FunctionTranslator.h"
#include "llvm/IR/Intrinsics.h"

using namespace sprig::gpu;
using namespace llvm;
namespace ptx = sprig::ptx;

static bool isDouble(ptx::Type type) { return type.kind == ptx::Kind::Float && type.bits == 64; }
static bool isSingle(ptx::Type type) { return type.kind == ptx::Kind::Float && type.bits == 32; }
static bool isHalf(ptx::Type type) { return type.bits == 16; }

// Subnormal numbers become zeros of their sign.
Value *FunctionTranslator::flushed(Value *value, bool flush) {
  if (!flush || !value->getType()->isFloatTy()) return value;
  Value *bits = toBits(value);
  Value *isSubnormal = builder.CreateICmpEQ(builder.CreateAnd(bits, 0x7f800000), builder.getInt32(0));
  return builder.CreateBitCast(choose(isSubnormal, builder.CreateAnd(bits, 0x80000000), bits), builder.getFloatTy());
}
// Into [0, 1]; NaN becomes 0.
Value *FunctionTranslator::saturated(Value *value) {
  Value *zero = ConstantFP::get(value->getType(), 0.0), *one = ConstantFP::get(value->getType(), 1.0);
  value = choose(builder.CreateFCmpOGT(value, zero), value, zero);
  return choose(builder.CreateFCmpOLT(value, one), value, one);
}

Value *FunctionTranslator::widen(Value *value, Type type) {
  if (!isHalf(type)) return value->getType()->isIntegerTy() && isSingle(type) ? fromBits(value, type) : value;
  if (type.kind == ptx::Kind::BFloat)
    return builder.CreateBitCast(builder.CreateShl(builder.CreateZExt(value, builder.getInt32Ty()), 16),
                                 builder.getFloatTy());
  return builder.CreateFPExt(builder.CreateBitCast(value, builder.getHalfTy()), builder.getFloatTy());
}
Value *FunctionTranslator::narrow(Value *value, Type type, Rounding rounding) {
  if (!isHalf(type)) return value;
  NarrowFormat format = type.kind == ptx::Kind::BFloat ? NarrowFormat::BF16 : NarrowFormat::F16;
  if (rounding != Rounding::Nearest || !value->getType()->isFloatTy()) {
    if (value->getType()->isFloatTy()) value = builder.CreateFPExt(value, builder.getDoubleTy());
    return builder.CreateTrunc(call(hooks::narrow, {value, code(format), code(rounding)}), builder.getInt16Ty());
  }
  Value *isNaN = builder.CreateFCmpUNO(value, value), *result;
  if (format == NarrowFormat::BF16) {
    Value *bits = toBits(value), *odd = builder.CreateAnd(builder.CreateLShr(bits, 16), 1);
    Value *rounded = builder.CreateAdd(builder.CreateAdd(bits, builder.getInt32(0x7fff)), odd);
    result = builder.CreateTrunc(builder.CreateLShr(rounded, 16), builder.getInt16Ty());
  } else {
    result = builder.CreateBitCast(builder.CreateFPTrunc(value, builder.getHalfTy()), builder.getInt16Ty());
  }
  return choose(isNaN, builder.getInt16(0x7fff), result);
}

FunctionTranslator::FloatMode FunctionTranslator::floatMode(Decoder &decoder, Type type) {
  FloatMode mode;
  mode.rounding = decoder.rounding().value_or(Rounding::Nearest);
  if (isSingle(type)) mode.flush = decoder.take("ftz");
  mode.saturate = decoder.take("sat");
  if (isHalf(type)) mode.relu = decoder.take("relu");
  if (isHalf(type) && mode.rounding != Rounding::Nearest) decoder.fail("16-bit arithmetic rounds to nearest");
  if (mode.rounding == Rounding::NearestAway) decoder.fail("'.rna' belongs to conversions");
  return mode;
}

// One lane. `b` and `c` as the operation has them; f16 and bf16 as integers.
Value *FunctionTranslator::floatOperation(RoundedOperation operation, Type type, FloatMode mode, Value *a, Value *b,
                                          Value *c) {
  Value *result;
  if (isHalf(type)) {
    // One operation in f32, rounded again, is one rounding: 24 bits are more than twice 11 (or 8) and two. Not so for
    // fma.
    if (operation == RoundedOperation::Fma) {
      auto wide = [&](Value *v) { return builder.CreateZExt(v, builder.getInt32Ty()); };
      NarrowFormat format = type.kind == ptx::Kind::BFloat ? NarrowFormat::BF16 : NarrowFormat::F16;
      result = widen(
          builder.CreateTrunc(call(hooks::narrowFma, {wide(a), wide(b), wide(c), code(format)}), builder.getInt16Ty()),
          type);
    } else {
      Value *x = widen(a, type), *y = widen(b, type);
      result = operation == RoundedOperation::Add ? builder.CreateFAdd(x, y) : builder.CreateFMul(x, y);
    }
    if (mode.saturate) result = saturated(result);
    if (mode.relu) {
      Value *zero = ConstantFP::get(result->getType(), 0.0);
      result = choose(builder.CreateFCmpOLT(result, zero), zero, result);
    }
    return narrow(result, type);
  }
  a = flushed(a, mode.flush), b = flushed(b, mode.flush);
  if (c) c = flushed(c, mode.flush);
  if (mode.rounding != Rounding::Nearest) {
    Value *none = ConstantFP::get(a->getType(), 0.0);
    result = call(isDouble(type) ? hooks::roundedF64 : hooks::roundedF32,
                  {code(operation), code(mode.rounding), a, b, c ? c : none});
  } else {
    switch (operation) {
    case RoundedOperation::Add: result = builder.CreateFAdd(a, b); break;
    case RoundedOperation::Multiply: result = builder.CreateFMul(a, b); break;
    case RoundedOperation::Divide: result = builder.CreateFDiv(a, b); break;
    case RoundedOperation::SquareRoot: result = builder.CreateUnaryIntrinsic(Intrinsic::sqrt, a); break;
    case RoundedOperation::Fma: result = builder.CreateIntrinsic(a->getType(), Intrinsic::fma, {a, b, c}); break;
    }
  }
  result = flushed(result, mode.flush);
  return mode.saturate ? saturated(result) : result;
}

void FunctionTranslator::floatBinary(Decoder &decoder, RoundedOperation operation, Type type, bool negatesSecond) {
  FloatMode mode = floatMode(decoder, type);
  Value *result = byLanes(type, {read(decoder, decoder[1], type), read(decoder, decoder[2], type)},
                          [&](Type lane, ArrayRef<Value *> v) {
                            Value *second = v[1];
                            if (negatesSecond)
                              second = isHalf(lane) ? builder.CreateXor(second, 0x8000) : builder.CreateFNeg(second);
                            return floatOperation(operation, lane, mode, v[0], second, nullptr);
                          });
  write(decoder, decoder[0], result, type);
}

void FunctionTranslator::multiplyAddFloat(Decoder &decoder, Type type) {
  FloatMode mode = floatMode(decoder, type);
  Value *result =
      byLanes(type, {read(decoder, decoder[1], type), read(decoder, decoder[2], type), read(decoder, decoder[3], type)},
              [&](Type lane, ArrayRef<Value *> v) {
                return floatOperation(RoundedOperation::Fma, lane, mode, v[0], v[1], v[2]);
              });
  write(decoder, decoder[0], result, type);
}
void FunctionTranslator::fusedMultiplyAdd(Decoder &decoder) {
  decoder.operands(4, 4);
  multiplyAddFloat(decoder, decoder.type());
}

void FunctionTranslator::floatDivide(Decoder &decoder, Type type) {
  decoder.takeOneOf({"approx", "full"});
  FloatMode mode = floatMode(decoder, type);
  if (isHalf(type)) decoder.fail("there is no division of 16-bit floats");
  write(decoder, decoder[0],
        floatOperation(RoundedOperation::Divide, type, mode, read(decoder, decoder[1], type),
                       read(decoder, decoder[2], type), nullptr),
        type);
}

void FunctionTranslator::floatSign(Decoder &decoder, Type type, bool isAbsolute) {
  bool flush = decoder.take("ftz");
  Value *value = read(decoder, decoder[1], type), *bits = toBits(flushed(value, flush && isSingle(type)));
  APInt sign = APInt::getSplat(type.totalBits(), APInt::getSignMask(type.bits));
  bits = isAbsolute ? builder.CreateAnd(bits, ~sign) : builder.CreateXor(bits, sign);
  write(decoder, decoder[0], fromBits(bits, type), type);
}

void FunctionTranslator::floatMinimum(Decoder &decoder, Type type, bool isMaximum) {
  bool flush = decoder.take("ftz"), propagates = decoder.take("NaN");
  Value *result = byLanes(
      type, {read(decoder, decoder[1], type), read(decoder, decoder[2], type)},
      [&](Type lane, ArrayRef<Value *> v) -> Value * {
        Value *a = flushed(widen(v[0], lane), flush), *b = flushed(widen(v[1], lane), flush);
        // The smaller; of two zeros the negative one; of a NaN and a number the number, or with .NaN the NaN.
        Value *isLess = isMaximum ? builder.CreateFCmpOGT(a, b) : builder.CreateFCmpOLT(a, b);
        Value *areEqual = builder.CreateFCmpOEQ(a, b);
        Value *ofZeros = isMaximum ? builder.CreateAnd(toBits(a), toBits(b)) : builder.CreateOr(toBits(a), toBits(b));
        Value *value = choose(areEqual, builder.CreateBitCast(ofZeros, a->getType()), choose(isLess, a, b));
        Value *aIsNaN = builder.CreateFCmpUNO(a, a), *bIsNaN = builder.CreateFCmpUNO(b, b);
        value = choose(aIsNaN, b, choose(bIsNaN, a, value));
        Value *isNaN = propagates ? builder.CreateOr(aIsNaN, bIsNaN) : builder.CreateAnd(aIsNaN, bIsNaN);
        unsigned bits = unsigned(a->getType()->getPrimitiveSizeInBits());
        APInt canonical = bits == 32 ? APInt(32, 0x7fffffff) : APInt(64, 0x7ff8000000000000);
        value = choose(isNaN, builder.CreateBitCast(ConstantInt::get(target->getContext(), canonical), a->getType()),
                       value);
        return narrow(value, lane);
      });
  write(decoder, decoder[0], result, type);
}

void FunctionTranslator::reciprocal(Decoder &decoder) {
  decoder.operands(2, 2);
  bool isApproximate = decoder.take("approx");
  Type type = decoder.type();
  if (isDouble(type)) decoder.take("ftz");
  FloatMode mode = floatMode(decoder, type);
  Value *value = read(decoder, decoder[1], type);
  Value *result =
      floatOperation(RoundedOperation::Divide, type, mode, ConstantFP::get(value->getType(), 1.0), value, nullptr);
  // Of a double only the upper half is computed.
  if (isApproximate && isDouble(type))
    result = fromBits(builder.CreateAnd(toBits(result), ~uint64_t(0xffffffff)), type);
  write(decoder, decoder[0], result, type);
}
void FunctionTranslator::squareRoot(Decoder &decoder) {
  decoder.operands(2, 2);
  decoder.take("approx");
  Type type = decoder.type();
  FloatMode mode = floatMode(decoder, type);
  Value *value = read(decoder, decoder[1], type);
  write(decoder, decoder[0], floatOperation(RoundedOperation::SquareRoot, type, mode, value, value, nullptr), type);
}
void FunctionTranslator::reciprocalRoot(Decoder &decoder) {
  decoder.operands(2, 2);
  if (!decoder.take("approx")) decoder.fail("expected .approx");
  Type type = decoder.type();
  if (!isSingle(type)) decoder.fail("it is known here for f32 alone");
  bool flush = decoder.take("ftz");
  Value *wide = builder.CreateFPExt(flushed(read(decoder, decoder[1], type), flush), builder.getDoubleTy());
  Value *result =
      builder.CreateFDiv(ConstantFP::get(wide->getType(), 1.0), builder.CreateUnaryIntrinsic(Intrinsic::sqrt, wide));
  write(decoder, decoder[0], flushed(builder.CreateFPTrunc(result, builder.getFloatTy()), flush), type);
}

void FunctionTranslator::approximate(Decoder &decoder) {
  decoder.operands(2, 2);
  const std::string &name = decoder.instruction.opcode;
  if (!decoder.take("approx")) decoder.fail("expected .approx");
  Approximation function = name == "ex2"   ? Approximation::Exp2
                           : name == "lg2" ? Approximation::Log2
                           : name == "sin" ? Approximation::Sine
                           : name == "cos" ? Approximation::Cosine
                                           : Approximation::Tanh;
  Type type = decoder.type();
  if (!type.isFloat() || isDouble(type)) decoder.fail("it is not known for " + ptx::typeName(type));
  bool flush = decoder.take("ftz");
  Value *result = byLanes(type, {read(decoder, decoder[1], type)}, [&](Type lane, ArrayRef<Value *> v) {
    Value *value = call(hooks::approximate, {code(function), flushed(widen(v[0], lane), flush && isSingle(lane))});
    return narrow(flushed(value, flush && isSingle(lane)), lane);
  });
  write(decoder, decoder[0], result, type);
}

void FunctionTranslator::testProperty(Decoder &decoder) {
  decoder.operands(2, 2);
  static const std::pair<const char *, unsigned> tests[] = {
      {"finite", fcFinite},  {"infinite", fcInf},  {"number", fcAllFlags & ~fcNan},
      {"notanumber", fcNan}, {"normal", fcNormal}, {"subnormal", fcSubnormal}};
  for (auto &[name, mask] : tests) {
    if (!decoder.take(name)) continue;
    Value *value = read(decoder, decoder[1], decoder.type());
    return writePredicate(decoder, decoder[0], builder.createIsFPClass(value, mask));
  }
  decoder.fail("it names no property that is known here");
}

// The second operand's magnitude with the first one's sign.
void FunctionTranslator::copySign(Decoder &decoder) {
  decoder.operands(3, 3);
  Type type = decoder.type();
  Value *sign = read(decoder, decoder[1], type), *magnitude = read(decoder, decoder[2], type);
  write(decoder, decoder[0], builder.CreateBinaryIntrinsic(Intrinsic::copysign, magnitude, sign), type);
}
