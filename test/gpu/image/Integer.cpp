// Arithmetic of integers. The instructions that floats have too go on to Float.cpp.
#include "test/gpu/image/FunctionTranslator.h"
#include "llvm/IR/Intrinsics.h"

using namespace sprig::gpu;
using namespace llvm;
namespace ptx = sprig::ptx;

enum Part { low, high, wide };
static int part(Decoder &decoder) { return decoder.takeOneOf({"lo", "hi", "wide"}); }
static ptx::Type widened(ptx::Type type) { return {type.kind, uint16_t(type.bits * 2)}; }

void FunctionTranslator::addOrSubtract(Decoder &decoder, bool isSubtraction) {
  decoder.operands(3, 3);
  if (decoder.take("cc")) return addOrSubtractInteger(decoder, isSubtraction, false);
  bool saturates = false;
  Type type = decoder.type();
  if (type.isFloat()) return floatBinary(decoder, RoundedOperation::Add, type, isSubtraction);
  saturates = decoder.take("sat");
  if (saturates && (!type.isSigned() || type.bits != 32)) decoder.fail("'.sat' belongs to s32");
  Value *a = read(decoder, decoder[1], type), *b = read(decoder, decoder[2], type);
  Value *result = byLanes(type, {a, b}, [&](Type, ArrayRef<Value *> v) {
    if (saturates)
      return (Value *)builder.CreateBinaryIntrinsic(isSubtraction ? Intrinsic::ssub_sat : Intrinsic::sadd_sat, v[0],
                                                    v[1]);
    return isSubtraction ? builder.CreateSub(v[0], v[1]) : builder.CreateAdd(v[0], v[1]);
  });
  write(decoder, decoder[0], result, type);
}
void FunctionTranslator::add(Decoder &decoder) { addOrSubtract(decoder, false); }
void FunctionTranslator::subtract(Decoder &decoder) { addOrSubtract(decoder, true); }

// With the carry (for subtractions the borrow) of the instruction before, which .cc wrote.
void FunctionTranslator::addOrSubtractInteger(Decoder &decoder, bool isSubtraction, bool usesCarry) {
  bool writesCarry = !usesCarry || decoder.take("cc");
  Type type = decoder.type();
  Type twice = widened(type);
  Value *a = builder.CreateZExt(read(decoder, decoder[1], type), hostType(twice)),
        *b = builder.CreateZExt(read(decoder, decoder[2], type), hostType(twice));
  Value *in = usesCarry ? builder.CreateZExt(builder.CreateLoad(builder.getInt1Ty(), carry), hostType(twice))
                        : integer(twice.bits, 0);
  Value *sum =
      isSubtraction ? builder.CreateSub(builder.CreateSub(a, b), in) : builder.CreateAdd(builder.CreateAdd(a, b), in);
  if (writesCarry)
    builder.CreateStore(builder.CreateTrunc(builder.CreateLShr(sum, type.bits), builder.getInt1Ty()), carry);
  write(decoder, decoder[0], builder.CreateTrunc(sum, hostType(type)), type);
}
void FunctionTranslator::addCarry(Decoder &decoder) {
  decoder.operands(3, 3);
  addOrSubtractInteger(decoder, false, true);
}
void FunctionTranslator::subtractCarry(Decoder &decoder) {
  decoder.operands(3, 3);
  addOrSubtractInteger(decoder, true, true);
}

// The lower or upper half of a product, or all of it.
Value *FunctionTranslator::product(Decoder &decoder, Value *a, Value *b, Type type, int part) {
  if (part == low) return builder.CreateMul(a, b);
  llvm::Type *twice = integerType(type.bits * 2);
  auto extend = [&](Value *value) {
    return type.isSigned() ? builder.CreateSExt(value, twice) : builder.CreateZExt(value, twice);
  };
  Value *all = builder.CreateMul(extend(a), extend(b));
  return part == wide ? all : builder.CreateTrunc(builder.CreateLShr(all, type.bits), integerType(type.bits));
}

void FunctionTranslator::multiply(Decoder &decoder) {
  decoder.operands(3, 3);
  int which = part(decoder);
  Type type = decoder.type();
  if (type.isFloat()) return floatBinary(decoder, RoundedOperation::Multiply, type, false);
  if (which < 0) decoder.fail("expected .lo, .hi or .wide");
  Value *result = product(decoder, read(decoder, decoder[1], type), read(decoder, decoder[2], type), type, which);
  write(decoder, decoder[0], result, which == wide ? widened(type) : type);
}

void FunctionTranslator::multiplyAdd(Decoder &decoder) {
  decoder.operands(4, 4);
  int which = part(decoder);
  bool writesCarry = decoder.take("cc");
  Type type = decoder.type();
  if (type.isFloat()) return multiplyAddFloat(decoder, type);
  if (which < 0) decoder.fail("expected .lo, .hi or .wide");
  if (writesCarry) decoder.fail("'.cc' of mad is not known here");
  Type result = which == wide ? widened(type) : type;
  Value *value = product(decoder, read(decoder, decoder[1], type), read(decoder, decoder[2], type), type, which);
  write(decoder, decoder[0], builder.CreateAdd(value, read(decoder, decoder[3], result)), result);
}

// The product of the lower 24 bits: its bits 0 to 31, or 16 to 47.
static Value *product24(IRBuilderBase &builder, Value *a, Value *b, bool isSigned, bool isHigh) {
  auto extend = [&](Value *value) {
    Value *shifted = builder.CreateShl(value, 8);
    shifted = isSigned ? builder.CreateAShr(shifted, 8) : builder.CreateLShr(shifted, 8);
    return isSigned ? builder.CreateSExt(shifted, builder.getInt64Ty())
                    : builder.CreateZExt(shifted, builder.getInt64Ty());
  };
  Value *all = builder.CreateMul(extend(a), extend(b));
  return builder.CreateTrunc(isHigh ? builder.CreateLShr(all, 16) : all, builder.getInt32Ty());
}
void FunctionTranslator::multiply24(Decoder &decoder) {
  decoder.operands(3, 3);
  int which = part(decoder);
  Type type = decoder.type();
  if (which < 0 || which == wide) decoder.fail("expected .lo or .hi");
  write(decoder, decoder[0],
        product24(builder, read(decoder, decoder[1], type), read(decoder, decoder[2], type), type.isSigned(),
                  which == high),
        type);
}
void FunctionTranslator::multiplyAdd24(Decoder &decoder) {
  decoder.operands(4, 4);
  int which = part(decoder);
  Type type = decoder.type();
  if (which < 0 || which == wide) decoder.fail("expected .lo or .hi");
  Value *value = product24(builder, read(decoder, decoder[1], type), read(decoder, decoder[2], type), type.isSigned(),
                           which == high);
  write(decoder, decoder[0], builder.CreateAdd(value, read(decoder, decoder[3], type)), type);
}

// PTX leaves a division by zero open: the checked version reports it, the plain one computes what GPUs do (all ones;
// the remainder is the dividend). The host's instruction would trap, also on the one quotient that overflows.
void FunctionTranslator::divideInteger(Decoder &decoder, Type type, bool isRemainder) {
  Value *a = read(decoder, decoder[1], type), *b = read(decoder, decoder[2], type);
  Value *zero = integer(type.bits, 0), *ones = ConstantInt::getAllOnesValue(hostType(type));
  Value *isZero = builder.CreateICmpEQ(b, zero);
  if (kernel.isChecked) onlyIf(isZero, [&] { call(hooks::divideByZero, {self(), line(decoder)}); });
  Value *isUnsafe = isZero, *isMinusOne = nullptr;
  if (type.isSigned()) {
    isMinusOne = builder.CreateICmpEQ(b, ones);
    isUnsafe = builder.CreateOr(isUnsafe, isMinusOne);
  }
  Value *divisor = choose(isUnsafe, integer(type.bits, 1), b), *result;
  if (isRemainder) {
    result = type.isSigned() ? builder.CreateSRem(a, divisor) : builder.CreateURem(a, divisor); // of 1: 0, right for -1
    result = choose(isZero, a, result);
  } else {
    result = type.isSigned() ? builder.CreateSDiv(a, divisor) : builder.CreateUDiv(a, divisor);
    if (isMinusOne) result = choose(isMinusOne, builder.CreateNeg(a), result);
    result = choose(isZero, ones, result);
  }
  write(decoder, decoder[0], result, type);
}
void FunctionTranslator::divide(Decoder &decoder) {
  decoder.operands(3, 3);
  Type type = decoder.type();
  type.isFloat() ? floatDivide(decoder, type) : divideInteger(decoder, type, false);
}
void FunctionTranslator::remainder(Decoder &decoder) {
  decoder.operands(3, 3);
  divideInteger(decoder, decoder.type(), true);
}

void FunctionTranslator::absolute(Decoder &decoder) {
  decoder.operands(2, 2);
  Type type = decoder.type();
  if (type.isFloat()) return floatSign(decoder, type, true);
  write(decoder, decoder[0],
        builder.CreateBinaryIntrinsic(Intrinsic::abs, read(decoder, decoder[1], type), builder.getInt1(false)), type);
}
void FunctionTranslator::negate(Decoder &decoder) {
  decoder.operands(2, 2);
  Type type = decoder.type();
  if (type.isFloat()) return floatSign(decoder, type, false);
  write(decoder, decoder[0], builder.CreateNeg(read(decoder, decoder[1], type)), type);
}

void FunctionTranslator::minimumOrMaximum(Decoder &decoder, bool isMaximum) {
  decoder.operands(3, 3);
  Type type = decoder.type();
  if (type.isFloat()) return floatMinimum(decoder, type, isMaximum);
  bool relu = decoder.take("relu");
  if (relu && !type.isSigned()) decoder.fail("'.relu' belongs to signed types");
  Intrinsic::ID which = type.isSigned() ? (isMaximum ? Intrinsic::smax : Intrinsic::smin)
                                        : (isMaximum ? Intrinsic::umax : Intrinsic::umin);
  Value *result = byLanes(
      type, {read(decoder, decoder[1], type), read(decoder, decoder[2], type)}, [&](Type lane, ArrayRef<Value *> v) {
        Value *value = builder.CreateBinaryIntrinsic(which, v[0], v[1]);
        return relu ? builder.CreateBinaryIntrinsic(Intrinsic::smax, value, integer(lane.bits, 0)) : value;
      });
  write(decoder, decoder[0], result, type);
}
void FunctionTranslator::minimum(Decoder &decoder) { minimumOrMaximum(decoder, false); }
void FunctionTranslator::maximum(Decoder &decoder) { minimumOrMaximum(decoder, true); }

// |a - b| + c
void FunctionTranslator::sumOfDifferences(Decoder &decoder) {
  decoder.operands(4, 4);
  Type type = decoder.type();
  Value *a = read(decoder, decoder[1], type), *b = read(decoder, decoder[2], type);
  Value *isLess = type.isSigned() ? builder.CreateICmpSLT(a, b) : builder.CreateICmpULT(a, b);
  Value *difference = choose(isLess, builder.CreateSub(b, a), builder.CreateSub(a, b));
  write(decoder, decoder[0], builder.CreateAdd(difference, read(decoder, decoder[3], type)), type);
}

// Four products of bytes, added to c.
void FunctionTranslator::dotProduct(Decoder &decoder) {
  decoder.operands(4, 4);
  Type typeA = decoder.type(), typeB = decoder.type();
  Type result{typeA.isSigned() || typeB.isSigned() ? ptx::Kind::Signed : ptx::Kind::Unsigned, 32};
  Value *a = read(decoder, decoder[1], typeA), *b = read(decoder, decoder[2], typeB),
        *sum = read(decoder, decoder[3], result);
  auto byte = [&](Value *word, Type type, unsigned i) {
    Value *narrow = builder.CreateTrunc(builder.CreateLShr(word, i * 8), builder.getInt8Ty());
    return type.isSigned() ? builder.CreateSExt(narrow, builder.getInt32Ty())
                           : builder.CreateZExt(narrow, builder.getInt32Ty());
  };
  for (unsigned i = 0; i < 4; ++i)
    sum = builder.CreateAdd(sum, builder.CreateMul(byte(a, typeA, i), byte(b, typeB, i)));
  write(decoder, decoder[0], sum, result);
}
