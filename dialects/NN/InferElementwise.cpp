// Result types of elementwise operations.
#include "dialects/NN/Infer.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNUnary.h"

using namespace mlir;

namespace sprig::ir {

LogicalResult InRangeOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand");
  if (failed(operand) || failed(infer.present(op.getLowAttr(), "low")) ||
      failed(infer.present(op.getHighAttr(), "high")))
    return failure();
  double low = op.getLow().convertToDouble(), high = op.getHigh().convertToDouble();
  if (!(low <= high)) return infer.fail("has the range from ", low, " to ", high, ", which holds no value");
  return infer.give(*operand);
}

LogicalResult SeluOp::inferTypes(const Inference &infer, Adaptor op) {
  return success(succeeded(infer.giveTypeOf(op.getOperand())) && succeeded(infer.present(op.getAlphaAttr(), "alpha")) &&
                 succeeded(infer.present(op.getGammaAttr(), "gamma")));
}

LogicalResult HardSigmoidOp::inferTypes(const Inference &infer, Adaptor op) {
  return success(succeeded(infer.giveTypeOf(op.getOperand())) && succeeded(infer.present(op.getAlphaAttr(), "alpha")) &&
                 succeeded(infer.present(op.getBetaAttr(), "beta")));
}

LogicalResult inferBinary(const Inference &infer, Value lhs, Value rhs, bool sameElementType, Type resultElement) {
  auto a = infer.tensor(lhs, "lhs"), b = infer.tensor(rhs, "rhs");
  if (failed(a) || failed(b)) return failure();
  if (sameElementType && failed(infer.sameElementType(*a, "lhs", *b, "rhs"))) return failure();
  auto shape = infer.broadcast(*a, "lhs", *b, "rhs");
  if (failed(shape)) return failure();
  return infer.give(*shape, resultElement ? resultElement : a->getElementType());
}

LogicalResult PowOp::inferTypes(const Inference &infer, Adaptor op) {
  return inferBinary(infer, op.getLhs(), op.getRhs(), /*sameElementType=*/false);
}

LogicalResult CompareOp::inferTypes(const Inference &infer, Adaptor op) {
  if (failed(infer.present(op.getPredicateAttr(), "predicate"))) return failure();
  return inferBinary(infer, op.getLhs(), op.getRhs(), true, IntegerType::get(op.getPredicateAttr().getContext(), 1));
}

LogicalResult SelectOp::inferTypes(const Inference &infer, Adaptor op) {
  auto condition = infer.tensor(op.getCondition(), "condition");
  auto a = infer.tensor(op.getOnTrue(), "on_true"), b = infer.tensor(op.getOnFalse(), "on_false");
  if (failed(condition) || failed(a) || failed(b) || failed(infer.sameElementType(*a, "on_true", *b, "on_false")))
    return failure();
  auto values = infer.broadcast(*a, "on_true", *b, "on_false");
  if (failed(values)) return failure();
  auto both = RankedTensorType::get(*values, a->getElementType());
  auto shape = infer.broadcast(*condition, "condition", both, "values");
  return failed(shape) ? failure() : infer.give(*shape, a->getElementType());
}

} // namespace sprig::ir
