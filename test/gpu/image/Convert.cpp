// cvt between all numeric types.
#include "test/gpu/image/FunctionTranslator.h"
#include "llvm/IR/Intrinsics.h"

using namespace sprig::gpu;
using namespace llvm;
namespace ptx = sprig::ptx;

Value *FunctionTranslator::integerToInteger(Value *value, Type from, Type to, bool saturate) {
  unsigned width = std::max(from.bits, to.bits) + 1u; // holds every value of both
  llvm::Type *wide = integerType(width);
  Value *extended = from.isSigned() ? builder.CreateSExt(value, wide) : builder.CreateZExt(value, wide);
  if (saturate) {
    APInt low = to.isSigned() ? APInt::getSignedMinValue(to.bits).sext(width) : APInt(width, 0);
    APInt high =
        to.isSigned() ? APInt::getSignedMaxValue(to.bits).zext(width) : APInt::getMaxValue(to.bits).zext(width);
    extended = builder.CreateBinaryIntrinsic(Intrinsic::smax, extended, ConstantInt::get(target->getContext(), low));
    extended = builder.CreateBinaryIntrinsic(Intrinsic::smin, extended, ConstantInt::get(target->getContext(), high));
  }
  return builder.CreateTrunc(extended, integerType(to.bits));
}

Value *FunctionTranslator::integerToFloat(Value *value, Type from, Type to, Rounding rounding) {
  if (to.bits == 32 || to.bits == 64)
    if (rounding == Rounding::Nearest)
      return from.isSigned() ? builder.CreateSIToFP(value, hostType(to)) : builder.CreateUIToFP(value, hostType(to));
  Value *wide = from.isSigned() ? builder.CreateSExt(value, builder.getInt64Ty())
                                : builder.CreateZExt(value, builder.getInt64Ty());
  // The number of bits that the result keeps, rounded to so that a double holds it: then the last step is exact.
  unsigned kept = to.bits == 64 ? 53 : to.bits == 32 ? 24 : to.kind == ptx::Kind::BFloat ? 8 : 11;
  Value *rounded = call(hooks::integerToFloat, {wide, code(from.isSigned()), code(kept), code(rounding)});
  if (to.bits == 64) return rounded;
  if (to.bits == 32) return builder.CreateFPTrunc(rounded, builder.getFloatTy());
  return narrow(rounded, to, rounding);
}

// rounding: 0 to 3 as in {rni, rzi, rmi, rpi}.
Value *FunctionTranslator::roundToIntegral(Value *value, int rounding) {
  static const Intrinsic::ID functions[] = {Intrinsic::roundeven, Intrinsic::trunc, Intrinsic::floor, Intrinsic::ceil};
  return builder.CreateUnaryIntrinsic(functions[rounding], value);
}

// Saturates. NaN becomes 0, but for 64-bit types on either side, where it becomes the integer with the top bit alone.
Value *FunctionTranslator::floatToInteger(Value *value, Type to, Type from, int rounding) {
  Value *integral = roundToIntegral(value, rounding);
  Value *result = builder.CreateIntrinsic(to.isSigned() ? Intrinsic::fptosi_sat : Intrinsic::fptoui_sat,
                                          {integerType(to.bits), value->getType()}, {integral});
  if (from.bits != 64 && to.bits != 64) return result;
  Value *isNaN = builder.CreateFCmpUNO(value, value);
  return choose(isNaN, ConstantInt::get(target->getContext(), APInt::getSignMask(to.bits)), result);
}

void FunctionTranslator::convert(Decoder &decoder) {
  decoder.operands(2, 3);
  int integral = decoder.takeOneOf({"rni", "rzi", "rmi", "rpi"});
  std::optional<Rounding> rounding = decoder.rounding();
  bool flush = decoder.take("ftz"), saturate = decoder.take("sat"), relu = decoder.take("relu");
  Type to = decoder.type(), from = decoder.type();
  if (to.kind == ptx::Kind::Bits || from.kind == ptx::Kind::Bits) decoder.fail("there is no conversion of bits");
  if (to.lanes == 2 ? !(to.bits == 16 && from == Type{ptx::Kind::Float, 32} && decoder.size() == 3)
                    : decoder.size() != 2)
    decoder.fail("this conversion is not known here");
  if (from.lanes != 1 || from.kind == ptx::Kind::TFloat) decoder.fail("this conversion is not known here");
  Value *value = read(decoder, decoder[1], from);

  if (!from.isFloat() && !to.isFloat()) {
    // Sources narrower than their register were extended before: read took their own bits.
    return write(decoder, decoder[0], integerToInteger(value, from, to, saturate), to);
  }
  if (!from.isFloat()) {
    if (!rounding) decoder.fail("expected a rounding");
    Value *result = integerToFloat(value, from, to, *rounding);
    if (saturate) result = narrow(saturated(widen(result, to)), to);
    return write(decoder, decoder[0], result, to);
  }
  value = flushed(widen(value, from), flush);
  if (!to.isFloat()) {
    if (integral < 0) decoder.fail("expected a rounding to an integer");
    return write(decoder, decoder[0], floatToInteger(value, to, from, integral), to); // which saturates anyway
  }

  // Float to float. `one` converts a value that is f32 or f64.
  Type lane = to;
  lane.lanes = 1;
  auto one = [&](Value *v) -> Value * {
    if (integral >= 0) v = roundToIntegral(v, integral);
    if (saturate) v = saturated(v);
    if (relu) {
      Value *zero = ConstantFP::get(v->getType(), 0.0);
      v = choose(builder.CreateFCmpOLT(v, zero), zero, v);
    }
    bool isWide = v->getType()->isDoubleTy();
    if (lane.kind == ptx::Kind::TFloat) {
      if (!rounding || isWide) decoder.fail("expected a rounding of f32");
      return call(hooks::narrow,
                  {builder.CreateFPExt(v, builder.getDoubleTy()), code(NarrowFormat::TF32), code(*rounding)});
    }
    if (lane.bits == 16) {
      if (from == lane) return narrow(v, lane);
      if (!rounding) decoder.fail("expected a rounding");
      return narrow(v, lane, *rounding);
    }
    if (lane.bits == 64) return isWide ? v : builder.CreateFPExt(v, builder.getDoubleTy());
    if (!isWide) return flushed(v, flush);
    if (!rounding) decoder.fail("expected a rounding");
    Value *narrower = *rounding == Rounding::Nearest ? builder.CreateFPTrunc(v, builder.getFloatTy())
                                                     : call(hooks::narrowToF32, {v, code(*rounding)});
    return flushed(narrower, flush);
  };
  Value *result = one(value);
  if (to.lanes == 2) {
    // The first operand goes into the upper half.
    Value *lower = one(flushed(read(decoder, decoder[2], from), flush));
    result = builder.CreateOr(builder.CreateShl(builder.CreateZExt(result, builder.getInt32Ty()), 16),
                              builder.CreateZExt(lower, builder.getInt32Ty()));
  }
  write(decoder, decoder[0], result, to);
}
