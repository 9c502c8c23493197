// Operations on bits. Shifts by the width or more have a value in PTX, in LLVM they have none.
#include "test/gpu/image/FunctionTranslator.h"
#include "llvm/IR/Intrinsics.h"

using namespace sprig::gpu;
using namespace llvm;
namespace ptx = sprig::ptx;

static constexpr ptx::Type u32{ptx::Kind::Unsigned, 32};

Value *FunctionTranslator::shiftedLeft(Value *value, Value *count) {
  unsigned bits = value->getType()->getIntegerBitWidth();
  Value *inside = builder.CreateICmpULT(count, integer(count->getType()->getIntegerBitWidth(), bits));
  Value *by = builder.CreateZExtOrTrunc(choose(inside, count, ConstantInt::get(count->getType(), 0)), value->getType());
  return choose(inside, builder.CreateShl(value, by), integer(bits, 0));
}
Value *FunctionTranslator::shiftedRight(Value *value, Value *count) {
  unsigned bits = value->getType()->getIntegerBitWidth();
  Value *inside = builder.CreateICmpULT(count, integer(count->getType()->getIntegerBitWidth(), bits));
  Value *by = builder.CreateZExtOrTrunc(choose(inside, count, ConstantInt::get(count->getType(), 0)), value->getType());
  return choose(inside, builder.CreateLShr(value, by), integer(bits, 0));
}
Value *FunctionTranslator::lowMask(unsigned bits, Value *count) {
  return builder.CreateNot(shiftedLeft(ConstantInt::getAllOnesValue(integerType(bits)), count));
}

void FunctionTranslator::bitwise(Decoder &decoder) {
  decoder.operands(3, 3);
  const std::string &name = decoder.instruction.opcode;
  Type type = decoder.type();
  auto operate = [&](Value *a, Value *b) {
    return name == "and" ? builder.CreateAnd(a, b) : name == "or" ? builder.CreateOr(a, b) : builder.CreateXor(a, b);
  };
  if (type.kind == ptx::Kind::Predicate)
    return writePredicate(decoder, decoder[0],
                          operate(readPredicate(decoder, decoder[1]), readPredicate(decoder, decoder[2])));
  write(decoder, decoder[0], operate(toBits(read(decoder, decoder[1], type)), toBits(read(decoder, decoder[2], type))),
        type);
}
void FunctionTranslator::invert(Decoder &decoder) {
  decoder.operands(2, 2);
  Type type = decoder.type();
  if (type.kind == ptx::Kind::Predicate)
    return writePredicate(decoder, decoder[0], builder.CreateNot(readPredicate(decoder, decoder[1])));
  write(decoder, decoder[0], builder.CreateNot(read(decoder, decoder[1], type)), type);
}
void FunctionTranslator::isZero(Decoder &decoder) {
  decoder.operands(2, 2);
  Type type = decoder.type();
  write(
      decoder, decoder[0],
      builder.CreateZExt(builder.CreateICmpEQ(read(decoder, decoder[1], type), integer(type.bits, 0)), hostType(type)),
      type);
}

void FunctionTranslator::shiftLeft(Decoder &decoder) {
  decoder.operands(3, 3);
  Type type = decoder.type();
  write(decoder, decoder[0], shiftedLeft(read(decoder, decoder[1], type), read(decoder, decoder[2], u32)), type);
}
void FunctionTranslator::shiftRight(Decoder &decoder) {
  decoder.operands(3, 3);
  Type type = decoder.type();
  Value *value = read(decoder, decoder[1], type), *count = read(decoder, decoder[2], u32);
  if (!type.isSigned()) return write(decoder, decoder[0], shiftedRight(value, count), type);
  Value *most = builder.CreateBinaryIntrinsic(Intrinsic::umin, count, builder.getInt32(type.bits - 1));
  write(decoder, decoder[0], builder.CreateAShr(value, builder.CreateZExtOrTrunc(most, hostType(type))), type);
}

// shf.l/.r d, a, b, c: 32 bits of b:a (b above), shifted by c.
void FunctionTranslator::funnelShift(Decoder &decoder) {
  decoder.operands(4, 4);
  int direction = decoder.takeOneOf({"l", "r"}), mode = decoder.takeOneOf({"wrap", "clamp"});
  if (direction < 0 || mode < 0) decoder.fail("expected .l or .r, and .wrap or .clamp");
  Type type = decoder.type();
  if (type.totalBits() != 32) decoder.fail("expected a type of 32 bits");
  Value *a = read(decoder, decoder[1], type), *b = read(decoder, decoder[2], type),
        *count = read(decoder, decoder[3], u32);
  Value *both = builder.CreateOr(builder.CreateShl(builder.CreateZExt(b, builder.getInt64Ty()), 32),
                                 builder.CreateZExt(a, builder.getInt64Ty()));
  count = mode == 0 ? builder.CreateAnd(count, 31)
                    : builder.CreateBinaryIntrinsic(Intrinsic::umin, count, builder.getInt32(32));
  Value *by = builder.CreateZExt(count, builder.getInt64Ty());
  Value *result = direction == 0 ? builder.CreateLShr(builder.CreateShl(both, by), 32) : builder.CreateLShr(both, by);
  write(decoder, decoder[0], builder.CreateTrunc(result, builder.getInt32Ty()), type);
}

// prmt d, a, b, c: each nibble of c names a byte of b:a; its upper bit asks for that byte's sign eight times.
void FunctionTranslator::permute(Decoder &decoder) {
  decoder.operands(4, 4);
  Type type = decoder.type();
  Value *a = read(decoder, decoder[1], type), *b = read(decoder, decoder[2], type),
        *selector = read(decoder, decoder[3], u32);
  Value *both = builder.CreateOr(builder.CreateShl(builder.CreateZExt(b, builder.getInt64Ty()), 32),
                                 builder.CreateZExt(a, builder.getInt64Ty()));
  Value *result = builder.getInt32(0);
  for (unsigned i = 0; i < 4; ++i) {
    Value *nibble = builder.CreateLShr(selector, i * 4);
    Value *by = builder.CreateZExt(builder.CreateShl(builder.CreateAnd(nibble, 7), 3), builder.getInt64Ty());
    Value *byte = builder.CreateTrunc(builder.CreateLShr(both, by), builder.getInt8Ty());
    Value *wantsSign = builder.CreateICmpNE(builder.CreateAnd(nibble, 8), builder.getInt32(0));
    byte = choose(wantsSign, builder.CreateAShr(byte, 7), byte);
    result = builder.CreateOr(result, builder.CreateShl(builder.CreateZExt(byte, builder.getInt32Ty()), i * 8));
  }
  write(decoder, decoder[0], result, type);
}

// Any function of three bits, given as its table.
void FunctionTranslator::lookup(Decoder &decoder) {
  decoder.operands(5, 5);
  Type type = decoder.type();
  uint64_t table = decoder.constant(4);
  Value *inputs[3];
  for (unsigned i = 0; i < 3; ++i) inputs[i] = read(decoder, decoder[i + 1], type);
  Value *result = integer(type.bits, 0);
  for (unsigned row = 0; row < 8; ++row) {
    if (!(table >> row & 1)) continue;
    Value *term = ConstantInt::getAllOnesValue(hostType(type));
    for (unsigned i = 0; i < 3; ++i)
      term = builder.CreateAnd(term, row >> (2 - i) & 1 ? inputs[i] : builder.CreateNot(inputs[i]));
    result = builder.CreateOr(result, term);
  }
  write(decoder, decoder[0], result, type);
}

void FunctionTranslator::population(Decoder &decoder) {
  decoder.operands(2, 2);
  Value *count = builder.CreateUnaryIntrinsic(Intrinsic::ctpop, read(decoder, decoder[1], decoder.type()));
  write(decoder, decoder[0], builder.CreateTrunc(count, builder.getInt32Ty()), u32);
}
void FunctionTranslator::leadingZeros(Decoder &decoder) {
  decoder.operands(2, 2);
  Value *count =
      builder.CreateBinaryIntrinsic(Intrinsic::ctlz, read(decoder, decoder[1], decoder.type()), builder.getInt1(false));
  write(decoder, decoder[0], builder.CreateTrunc(count, builder.getInt32Ty()), u32);
}
// The place of the highest bit that is not the sign; all ones where there is none. With .shiftamt the shift that brings
// it up.
void FunctionTranslator::findLeading(Decoder &decoder) {
  decoder.operands(2, 2);
  bool isShift = decoder.take("shiftamt");
  Type type = decoder.type();
  Value *value = read(decoder, decoder[1], type);
  if (type.isSigned()) value = builder.CreateXor(value, builder.CreateAShr(value, type.bits - 1));
  Value *zeros = builder.CreateTrunc(builder.CreateBinaryIntrinsic(Intrinsic::ctlz, value, builder.getInt1(false)),
                                     builder.getInt32Ty());
  Value *place = isShift ? zeros : builder.CreateSub(builder.getInt32(type.bits - 1), zeros);
  Value *isNone = builder.CreateICmpEQ(value, integer(type.bits, 0));
  write(decoder, decoder[0], choose(isNone, builder.getInt32(~0u), place), u32);
}
void FunctionTranslator::reverseBits(Decoder &decoder) {
  decoder.operands(2, 2);
  Type type = decoder.type();
  write(decoder, decoder[0], builder.CreateUnaryIntrinsic(Intrinsic::bitreverse, read(decoder, decoder[1], type)),
        type);
}

// bfe d, a, position, length: what reaches beyond the top is filled with the sign (of s types), which is the field's
// own top bit or, where that lies outside, a's.
void FunctionTranslator::extractField(Decoder &decoder) {
  decoder.operands(4, 4);
  Type type = decoder.type();
  Value *a = read(decoder, decoder[1], type);
  Value *position = builder.CreateAnd(read(decoder, decoder[2], u32), 255),
        *length = builder.CreateAnd(read(decoder, decoder[3], u32), 255);
  Value *top = builder.getInt32(type.bits - 1);
  Value *mask = builder.CreateAnd(lowMask(type.bits, length),
                                  shiftedRight(ConstantInt::getAllOnesValue(hostType(type)), position));
  Value *field = builder.CreateAnd(shiftedRight(a, position), mask);
  if (type.isSigned()) {
    Value *last = builder.CreateBinaryIntrinsic(
        Intrinsic::umin, builder.CreateSub(builder.CreateAdd(position, length), builder.getInt32(1)), top);
    Value *sign = builder.CreateTrunc(shiftedRight(a, last), builder.getInt1Ty());
    sign = builder.CreateAnd(sign, builder.CreateICmpNE(length, builder.getInt32(0)));
    field =
        builder.CreateOr(field, builder.CreateAnd(builder.CreateSExt(sign, hostType(type)), builder.CreateNot(mask)));
  }
  write(decoder, decoder[0], field, type);
}
// bfi f, a, b, position, length: b with the lower bits of a in the field.
void FunctionTranslator::insertField(Decoder &decoder) {
  decoder.operands(5, 5);
  Type type = decoder.type();
  Value *a = read(decoder, decoder[1], type), *b = read(decoder, decoder[2], type);
  Value *position = builder.CreateAnd(read(decoder, decoder[3], u32), 255),
        *length = builder.CreateAnd(read(decoder, decoder[4], u32), 255);
  Value *mask = shiftedLeft(lowMask(type.bits, length), position);
  write(decoder, decoder[0],
        builder.CreateOr(builder.CreateAnd(shiftedLeft(a, position), mask),
                         builder.CreateAnd(b, builder.CreateNot(mask))),
        type);
}
