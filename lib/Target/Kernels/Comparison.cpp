#include "lib/Target/Kernels/Comparison.h"

using namespace mlir;
using namespace sprig;

Value sprig::isNan(ElementBuilder &k, Value value) {
  return arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::UNO, value, value);
}

Value sprig::isBeyond(ElementBuilder &k, Type elementType, bool larger, bool orEqual, Value a, Value b) {
  if (isa<FloatType>(elementType)) {
    auto predicate = larger ? (orEqual ? arith::CmpFPredicate::OGE : arith::CmpFPredicate::OGT)
                            : (orEqual ? arith::CmpFPredicate::OLE : arith::CmpFPredicate::OLT);
    return arith::CmpFOp::create(k.b, k.loc, predicate, a, b);
  }
  using P = arith::CmpIPredicate;
  bool isUnsigned = elementType.isUnsignedInteger() || elementType.isInteger(1);
  P predicate = larger ? (orEqual ? (isUnsigned ? P::uge : P::sge) : (isUnsigned ? P::ugt : P::sgt))
                       : (orEqual ? (isUnsigned ? P::ule : P::sle) : (isUnsigned ? P::ult : P::slt));
  return arith::CmpIOp::create(k.b, k.loc, predicate, a, b);
}

Value sprig::precedes(ElementBuilder &k, Type elementType, bool largest, Value a, Value b) {
  Value beyond = isBeyond(k, elementType, largest, /*orEqual=*/false, a, b);
  if (!isa<FloatType>(elementType)) return beyond;
  Value first = largest ? a : b, second = largest ? b : a; // NaN comes first among the largest, last among the smallest
  Value nan = isNan(k, first);
  Value number = arith::CmpFOp::create(k.b, k.loc, arith::CmpFPredicate::ORD, second, second);
  return arith::OrIOp::create(k.b, k.loc, beyond, arith::AndIOp::create(k.b, k.loc, nan, number));
}
