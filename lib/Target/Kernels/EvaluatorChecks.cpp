// Values that are checked while a kernel runs: divisors of integers, indices of classes, ranges. The first failure of a
// call is reported; its tile goes on with whatever value does no harm.
#include "dialects/NN/NNLoss.h"
#include "dialects/NN/NNUnary.h"
#include "lib/Target/Kernels/Evaluator.h"
#include "runtime/include/sprig/rt/kernel.h"

using namespace mlir;
using namespace sprig;

Value Evaluator::likeOf(Value model, double value) {
  Value scalar = k.constant(getElementTypeOrSelf(model.getType()), value);
  auto vector = dyn_cast<VectorType>(model.getType());
  return vector ? k.splat(scalar, vector.getDimSize(0)) : scalar;
}

Value Evaluator::isAny(Value &found) {
  if (!isa<VectorType>(found.getType())) return found;
  if (Value mask = activeMask()) found = arith::AndIOp::create(k.b, k.loc, found, mask);
  return vector::ReductionOp::create(k.b, k.loc, vector::CombiningKind::OR, found);
}

Value Evaluator::largest(Value found, Value integers) {
  if (!isa<VectorType>(integers.getType())) return integers;
  Type element = getElementTypeOrSelf(integers.getType());
  Value lowest = arith::ConstantOp::create(
      k.b, k.loc, k.b.getIntegerAttr(element, APInt::getSignedMinValue(element.getIntOrFloatBitWidth())));
  lowest = k.splat(lowest, cast<VectorType>(integers.getType()).getDimSize(0));
  Value candidates = arith::SelectOp::create(k.b, k.loc, found, integers, lowest);
  return vector::ReductionOp::create(k.b, k.loc, vector::CombiningKind::MAXSI, candidates);
}

Value Evaluator::checkDivisor(Operation *op, Value divisor) {
  Value isZero = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::eq, divisor, likeOf(divisor, 0));
  Value counted = isZero, any = isAny(counted);
  Value none = arith::ConstantIntOp::create(k.b, k.loc, 0, 64);
  k.reportIf(any, SPRIG_RT_KERNEL_DIVISION_BY_ZERO, operationNumber(op), none, none);
  return arith::SelectOp::create(k.b, k.loc, isZero, likeOf(divisor, 1), divisor);
}

void Evaluator::checkClass(ir::ClassIndexOp op, Value index) {
  // Unsigned: a negative one is above all.
  Value isOutside = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::uge, index, likeOf(index, op.getClasses()));
  Value any = isAny(isOutside);
  // Of several the largest, or of negative ones alone, -1 or the one that is nearest to it.
  Value offending = largest(isOutside, index);
  if (!offending.getType().isInteger(64)) offending = arith::ExtSIOp::create(k.b, k.loc, k.b.getI64Type(), offending);
  Value bound = arith::ConstantIntOp::create(k.b, k.loc, op.getClasses(), 64);
  k.reportIf(any, SPRIG_RT_KERNEL_INDEX_OUT_OF_RANGE, operationNumber(op), offending, bound);
}

void Evaluator::checkRange(ir::InRangeOp op, Value x) {
  OpBuilder &b = k.b;
  auto element = cast<FloatType>(getElementTypeOrSelf(x.getType()));
  Type bits = b.getIntegerType(element.getWidth());
  if (auto vector = dyn_cast<VectorType>(x.getType())) bits = vector.clone(bits);
  auto report = [&](arith::CmpFPredicate isOutside, double limit, int32_t code) {
    Value bound = likeOf(x, limit);
    Value found = arith::CmpFOp::create(b, k.loc, isOutside, x, bound), any = isAny(found);
    // As integers: NaN is above all numbers, and of negative ones the farthest from zero is the largest.
    Value offending = largest(found, arith::BitcastOp::create(b, k.loc, bits, x));
    offending = arith::BitcastOp::create(b, k.loc, element, offending);
    auto asBits = [&](Value scalar) -> Value {
      if (!element.isF64()) scalar = arith::ExtFOp::create(b, k.loc, b.getF64Type(), scalar);
      return arith::BitcastOp::create(b, k.loc, b.getI64Type(), scalar);
    };
    k.reportIf(any, code, operationNumber(op), asBits(offending), asBits(k.constant(element, limit)));
  };
  report(arith::CmpFPredicate::ULT, op.getLow().convertToDouble(), SPRIG_RT_KERNEL_VALUE_TOO_SMALL);
  report(arith::CmpFPredicate::OGT, op.getHigh().convertToDouble(), SPRIG_RT_KERNEL_VALUE_TOO_LARGE);
}

void Evaluator::check(Operation *op, MutableArrayRef<Value> arguments) {
  if (auto index = dyn_cast<ir::ClassIndexOp>(op)) return checkClass(index, arguments[0]);
  if (auto range = dyn_cast<ir::InRangeOp>(op)) return checkRange(range, arguments[0]);
  arguments[1] = checkDivisor(op, arguments[1]);
}
