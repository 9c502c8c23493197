#include "lib/Lengths/Masks.h"

using namespace mlir;
using sprig::ir::Expression;

namespace sprig {

Value Masks::integer(Expression &e, int64_t value) {
  auto type = RankedTensorType::get({}, e.b.getI64Type());
  return ir::ConstantOp::create(e.b, e.loc, type, DenseElementsAttr::get(type, value));
}

Value Masks::number(Expression &e, const Length &length) const {
  if (length.isFixed()) return integer(e, length.at(0));
  Value value = axis;
  if (length.multiple != 1) value = e.mul(value, integer(e, length.multiple));
  if (length.add) value = e.add(value, integer(e, length.add));
  if (length.divisor != 1) value = e.div(value, integer(e, length.divisor)); // of what is not negative
  return value;
}

Value Masks::places(Expression &e, int64_t count) {
  return ir::IotaOp::create(e.b, e.loc, RankedTensorType::get({count}, e.b.getI64Type()), 0);
}

static Value neutral(Expression &e, Type element, Neutral kind) {
  auto type = RankedTensorType::get({}, element);
  auto constant = [&](Attribute value) -> Value {
    return ir::ConstantOp::create(e.b, e.loc, type, DenseElementsAttr::get(type, value));
  };
  if (auto floating = dyn_cast<FloatType>(element)) {
    const llvm::fltSemantics &semantics = floating.getFloatSemantics();
    auto of = [&](const APFloat &value) { return constant(FloatAttr::get(floating, value)); };
    switch (kind) {
    case Neutral::zero: return of(APFloat::getZero(semantics));
    case Neutral::negativeZero: return of(APFloat::getZero(semantics, true));
    case Neutral::one: return of(APFloat(semantics, 1));
    case Neutral::lowest: return of(APFloat::getInf(semantics, true));
    case Neutral::highest: return of(APFloat::getInf(semantics));
    }
  }
  auto whole = cast<IntegerType>(element);
  unsigned width = whole.getWidth();
  bool hasNoSign = whole.isUnsigned() || width == 1;
  auto of = [&](const APInt &value) { return constant(IntegerAttr::get(whole, value)); };
  switch (kind) {
  case Neutral::zero:
  case Neutral::negativeZero: return of(APInt::getZero(width));
  case Neutral::one: return of(APInt(width, 1));
  case Neutral::lowest: return of(hasNoSign ? APInt::getZero(width) : APInt::getSignedMinValue(width));
  case Neutral::highest: return of(hasNoSign ? APInt::getAllOnes(width) : APInt::getSignedMaxValue(width));
  }
  llvm_unreachable("a kind");
}

Value Masks::mask(Expression &e, Value value, int64_t dim, const Length &length, Value fill) const {
  RankedTensorType type = Expression::typeOf(value);
  Value isThere = e.compare(ir::ComparePredicate::lt, places(e, type.getDimSize(dim)), number(e, length));
  SmallVector<int64_t> shape(size_t(type.getRank() - dim), 1);
  shape[0] = type.getDimSize(dim);
  return e.select(e.reshape(isThere, shape), value, fill);
}

Value Masks::mask(Expression &e, Value value, int64_t dim, const Length &length, Neutral fill) const {
  return mask(e, value, dim, length, neutral(e, Expression::typeOf(value).getElementType(), fill));
}

} // namespace sprig
