// Elements of kernels: storage and compute types, conversions between them, loads, stores and arithmetic.
#include "lib/Target/Kernels/ElementBuilder.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/NN/ScalarBuilder.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace sprig;

Type sprig::storageType(Type elementType) {
  if (elementType.isInteger(1)) return IntegerType::get(elementType.getContext(), 8);
  if (auto integer = dyn_cast<IntegerType>(elementType))
    return IntegerType::get(elementType.getContext(), integer.getWidth());
  return elementType;
}

Type sprig::computeType(Type elementType) {
  if (isHalf(elementType)) return Float32Type::get(elementType.getContext());
  return elementType.isInteger(1) ? elementType : storageType(elementType);
}

MemRefType sprig::bufferType(RankedTensorType tensor) {
  // A buffer without elements is 1-d: bare pointers to others with strides of 0 do not lower.
  if (tensor.getNumElements() == 0) return MemRefType::get({0}, storageType(tensor.getElementType()));
  return MemRefType::get(tensor.getShape(), storageType(tensor.getElementType()));
}

/// `element` itself for a scalar, a vector of it for a vector.
static Type like(Value value, Type element) {
  if (auto vector = dyn_cast<VectorType>(value.getType())) return VectorType::get(vector.getShape(), element);
  return element;
}

Value ElementBuilder::constant(Type type, double value) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return arith::ConstantOp::create(
        b, loc, type, b.getIntegerAttr(type, APInt(integer.getWidth(), static_cast<int64_t>(value), true, true)));
  if (isa<IndexType>(type)) return index(static_cast<int64_t>(value));
  return arith::ConstantOp::create(b, loc, type, b.getFloatAttr(type, value));
}

Value ElementBuilder::splatConstant(DenseElementsAttr value) {
  Type type = computeType(value.getElementType());
  if (isa<FloatType>(type)) return constant(type, value.getSplatValue<APFloat>().convertToDouble());
  return arith::ConstantOp::create(b, loc, type, b.getIntegerAttr(type, value.getSplatValue<APInt>()));
}

Value ElementBuilder::splat(Value scalar, int64_t lanes) {
  return vector::BroadcastOp::create(b, loc, VectorType::get({lanes}, scalar.getType()), scalar);
}

Value ElementBuilder::constant(TypedAttr number, int64_t lanes) {
  auto type = VectorType::get({lanes}, number.getType());
  return arith::ConstantOp::create(b, loc, DenseElementsAttr::get(type, Attribute(number)));
}

Value ElementBuilder::constant(IntegerType element, int64_t number, int64_t lanes) {
  APInt bits(element.getWidth(), uint64_t(number), /*isSigned=*/false, /*implicitTrunc=*/true);
  return constant(IntegerAttr::get(element, bits), lanes);
}

Value ElementBuilder::zero(Type type, int64_t lanes) {
  if (lanes == 0) return constant(type, 0);
  auto vector = VectorType::get({lanes}, type);
  return arith::ConstantOp::create(b, loc, vector, cast<TypedAttr>(b.getZeroAttr(vector)));
}

Value ElementBuilder::mask(int64_t count, int64_t lanes) {
  SmallVector<bool> bits;
  for (int64_t i = 0; i < lanes; ++i) bits.push_back(i < count);
  auto type = VectorType::get({lanes}, b.getI1Type());
  return arith::ConstantOp::create(b, loc, type, DenseElementsAttr::get(type, bits));
}

Value ElementBuilder::mask(Value count, int64_t lanes) {
  if (auto known = getConstantIntValue(OpFoldResult(count))) return mask(*known, lanes);
  return vector::CreateMaskOp::create(b, loc, VectorType::get({lanes}, b.getI1Type()), count);
}

Value ElementBuilder::load(Value buffer, ValueRange indices, Type elementType) {
  return widen(memref::LoadOp::create(b, loc, buffer, indices), elementType);
}

// A vector of small elements is aligned to its own bytes alone.
int64_t ElementBuilder::alignmentOf(VectorType stored) const {
  int64_t bits = stored.getNumElements() * stored.getElementTypeBitWidth();
  return std::min(vectorAlignment, (bits + 7) / 8);
}

Value ElementBuilder::loadVector(Value buffer, ValueRange indices, Type elementType, Value maskValue, int64_t lanes) {
  auto type = VectorType::get({lanes}, storageType(elementType));
  if (!maskValue) {
    auto vector = vector::LoadOp::create(b, loc, type, buffer, indices);
    if (int64_t alignment = alignmentOf(type)) vector.setAlignment(alignment);
    return widen(vector, elementType);
  }
  Value rest = zero(type.getElementType(), lanes);
  return widen(vector::MaskedLoadOp::create(b, loc, type, buffer, indices, maskValue, rest), elementType);
}

/// Whether a mask is known, and of the first lane alone.
static bool isFirstLane(Value mask) {
  DenseElementsAttr bits;
  if (!matchPattern(mask, m_Constant(&bits))) return false;
  auto values = llvm::to_vector(bits.getValues<bool>());
  return values[0] && llvm::count(values, true) == 1;
}

/// A bf16 as its bits: they alone are what emitters compute with.
static Value firstLane(OpBuilder &b, Location loc, Value vector) {
  auto type = cast<VectorType>(vector.getType());
  bool isBF16 = type.getElementType().isBF16();
  if (isBF16) vector = arith::BitcastOp::create(b, loc, type.clone(b.getI16Type()), vector);
  Value lane = vector::ExtractOp::create(b, loc, vector, ArrayRef<int64_t>{0});
  return isBF16 ? Value(arith::BitcastOp::create(b, loc, type.getElementType(), lane)) : lane;
}

void ElementBuilder::store(Value value, Value buffer, ValueRange indices, Type elementType, Value maskValue) {
  Value stored = narrow(value, elementType);
  if (!isa<VectorType>(stored.getType())) memref::StoreOp::create(b, loc, stored, buffer, indices);
  // LLVM 22 makes a store of 4 bytes of such a mask where narrower integers, or bits, were truncated from 32 bits.
  else if (maskValue && (elementType.isInteger() || elementType.isBF16()) && isFirstLane(maskValue))
    memref::StoreOp::create(b, loc, firstLane(b, loc, stored), buffer, indices);
  else if (maskValue)
    vector::MaskedStoreOp::create(b, loc, buffer, indices, maskValue, stored);
  else if (auto vector = vector::StoreOp::create(b, loc, stored, buffer, indices);
           int64_t alignment = alignmentOf(cast<VectorType>(stored.getType())))
    vector.setAlignment(alignment);
}

namespace {
/// Integer operations on scalars or vectors alike, for the conversions of half types.
struct Bits {
  ElementBuilder &k;
  Value model; // gives the shape
  Value c(int64_t value, Type element) {
    Value scalar = arith::ConstantOp::create(k.b, k.loc, element, k.b.getIntegerAttr(element, value));
    auto vector = dyn_cast<VectorType>(model.getType());
    if (!vector) return scalar;
    return arith::ConstantOp::create(
        k.b, k.loc,
        SplatElementsAttr::get(VectorType::get(vector.getShape(), element), k.b.getIntegerAttr(element, value)));
  }
  Value c(int64_t value) { return c(value, k.b.getI32Type()); }
  Value f(double value) { return cast(c(llvm::bit_cast<int32_t>(static_cast<float>(value))), k.b.getF32Type()); }
  Value cast(Value v, Type element) { return arith::BitcastOp::create(k.b, k.loc, like(v, element), v); }
  Value extend(Value v, Type element) { return arith::ExtUIOp::create(k.b, k.loc, like(v, element), v); }
  Value truncate(Value v, Type element) { return arith::TruncIOp::create(k.b, k.loc, like(v, element), v); }
  Value shl(Value v, int64_t n) { return arith::ShLIOp::create(k.b, k.loc, v, c(n)); }
  Value shr(Value v, int64_t n) { return arith::ShRUIOp::create(k.b, k.loc, v, c(n)); }
  Value add(Value a, Value b) { return arith::AddIOp::create(k.b, k.loc, a, b); }
  Value and_(Value a, Value b) { return arith::AndIOp::create(k.b, k.loc, a, b); }
  Value or_(Value a, Value b) { return arith::OrIOp::create(k.b, k.loc, a, b); }
  Value cmp(arith::CmpIPredicate p, Value a, Value b) { return arith::CmpIOp::create(k.b, k.loc, p, a, b); }
  Value select(Value c, Value a, Value b) { return arith::SelectOp::create(k.b, k.loc, c, a, b); }
};
} // namespace

// f16 to f32: shift the fields into place and rebias; a subnormal is normalised by a float subtraction.
static Value widenF16(ElementBuilder &k, Value half) {
  Bits n{k, half};
  Type i32 = k.b.getI32Type(), f32 = k.b.getF32Type();
  Value bits = n.extend(n.cast(half, k.b.getI16Type()), i32);
  Value sign = n.shl(n.and_(bits, n.c(0x8000)), 16);
  Value magnitude = n.shl(n.and_(bits, n.c(0x7fff)), 13);
  Value exponent = n.and_(magnitude, n.c(0x7c00 << 13));
  Value normal = n.add(magnitude, n.c((127 - 15) << 23));
  Value infinite = n.add(normal, n.c((128 - 16) << 23));
  Value tiny = n.cast(n.add(normal, n.c(1 << 23)), f32);
  Value subnormal = n.cast(Value(arith::SubFOp::create(k.b, k.loc, tiny, n.f(0x1p-14))), i32);
  Value result = n.select(n.cmp(arith::CmpIPredicate::eq, exponent, n.c(0)), subnormal, normal);
  result = n.select(n.cmp(arith::CmpIPredicate::eq, exponent, n.c(0x7c00 << 13)), infinite, result);
  return n.cast(n.or_(result, sign), f32);
}

// f32 to f16, to nearest even: the float adder rounds subnormals, an integer addition the rest.
static Value narrowF16(ElementBuilder &k, Value single) {
  Bits n{k, single};
  Type i32 = k.b.getI32Type(), f32 = k.b.getF32Type();
  Value bits = n.cast(single, i32);
  Value sign = n.shr(n.and_(bits, n.c(int32_t(0x80000000))), 16);
  Value magnitude = n.and_(bits, n.c(0x7fffffff));
  Value odd = n.and_(n.shr(magnitude, 13), n.c(1));
  Value rounded = n.add(n.add(magnitude, odd), n.c(int32_t(0xc8000fff))); // rebias by -112 exponents, half less one ulp
  Value normal = n.shr(rounded, 13);
  Value sum = arith::AddFOp::create(k.b, k.loc, n.cast(magnitude, f32), n.f(0.5));
  Value subnormal = n.add(n.cast(sum, i32), n.c(-int64_t(0x3f000000)));
  Value result = n.select(n.cmp(arith::CmpIPredicate::ult, magnitude, n.c(0x38800000)), subnormal, normal);
  result = n.select(n.cmp(arith::CmpIPredicate::uge, magnitude, n.c(0x47800000)), n.c(0x7c00), result);
  result = n.select(n.cmp(arith::CmpIPredicate::ugt, magnitude, n.c(0x7f800000)), n.c(0x7e00), result);
  return n.cast(n.truncate(n.or_(result, sign), k.b.getI16Type()), k.b.getF16Type());
}

static Value widenBF16(ElementBuilder &k, Value half) {
  Bits n{k, half};
  return n.cast(n.shl(n.extend(n.cast(half, k.b.getI16Type()), k.b.getI32Type()), 16), k.b.getF32Type());
}

// The bits of a bf16 in an i32, of an f32 that was rounded to one; null for others, those that were loaded among them,
// whose NaN may signal. Of a part of a vector, too.
static Value knownBF16Bits(ElementBuilder &k, Value single) {
  if (auto part = single.getDefiningOp<vector::ShuffleOp>(); part && part.getV1() == part.getV2())
    if (Value known = knownBF16Bits(k, part.getV1()))
      return vector::ShuffleOp::create(k.b, k.loc, known, known, part.getMask());
  auto cast = single.getDefiningOp<arith::BitcastOp>();
  auto shift = cast ? cast.getIn().getDefiningOp<arith::ShLIOp>() : arith::ShLIOp();
  APInt distance;
  bool isShifted = shift && matchPattern(shift.getRhs(), m_ConstantInt(&distance)) && distance == 16 &&
                   !shift.getLhs().getDefiningOp<arith::ExtUIOp>();
  return isShifted && getElementTypeOrSelf(shift.getType()).isInteger(32) ? shift.getLhs() : Value();
}

// f32 to the bits of bf16 in an i32, to nearest even; NaN stays a quiet NaN. With few constants: each takes a vector
// register from the loop that it follows.
static Value roundBF16Bits(ElementBuilder &k, Value single) {
  if (Value known = knownBF16Bits(k, single)) return known;
  Bits n{k, single};
  Value bits = n.cast(single, k.b.getI32Type());
  Value odd = n.shr(n.shl(bits, 15), 31);
  Value rounded = n.shr(n.add(n.add(bits, odd), n.c(0x7fff)), 16);
  Value quiet = n.or_(n.shr(bits, 16), n.c(0x40));
  Value isNaN = arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::UNO, single, single);
  return n.select(isNaN, quiet, rounded);
}

Value ElementBuilder::widen(Value stored, Type elementType) {
  if (elementType.isBF16()) return widenBF16(*this, stored);
  if (elementType.isF16())
    return instructions.f16c ? Value(arith::ExtFOp::create(b, loc, like(stored, b.getF32Type()), stored))
                             : widenF16(*this, stored);
  if (elementType.isInteger(1)) {
    Bits n{*this, stored};
    return n.cmp(arith::CmpIPredicate::ne, stored, n.c(0, b.getI8Type()));
  }
  return stored;
}

Value ElementBuilder::narrow(Value computed, Type elementType) {
  if (elementType.isBF16()) {
    Bits n{*this, computed};
    return n.cast(n.truncate(roundBF16Bits(*this, computed), b.getI16Type()), elementType);
  }
  if (elementType.isF16())
    return instructions.f16c ? Value(arith::TruncFOp::create(b, loc, like(computed, elementType), computed))
                             : narrowF16(*this, computed);
  if (elementType.isInteger(1)) return Bits{*this, computed}.extend(computed, b.getI8Type());
  return computed;
}

Value ElementBuilder::round(Value computed, Type elementType) {
  if (elementType.isBF16()) {
    Bits n{*this, computed};
    return n.cast(n.shl(roundBF16Bits(*this, computed), 16), b.getF32Type());
  }
  return elementType.isF16() ? widen(narrow(computed, elementType), elementType) : computed;
}

Value ElementBuilder::apply(Operation *elementwise, ValueRange arguments) {
  ScalarBuilder s(b, elementwise->getLoc());
  Value result = cast<ElementwiseOpInterface>(elementwise).buildScalar(s, arguments);
  return round(result, cast<RankedTensorType>(elementwise->getResult(0).getType()).getElementType());
}

Value ElementBuilder::multiplyAdd(Value a, Value b_, Value c) {
  if (!isa<FloatType>(getElementTypeOrSelf(c.getType())))
    return arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, a, b_), c);
  if (!instructions.fma) return arith::AddFOp::create(b, loc, arith::MulFOp::create(b, loc, a, b_), c);
  // Not vector.fma: it becomes an operation that LLVM may split in two again.
  return math::FmaOp::create(b, loc, a, b_, c);
}
