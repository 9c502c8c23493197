// Result types of elementwise operations.
#include "dialects/NN/Infer.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNUnary.h"

using namespace mlir;

namespace sprig::ir {

#define SPRIG_NN_SAME_TYPE(OpT)                                                                                        \
  SPRIG_NN_INFER(OpT) {                                                                                                \
    Inference infer(location, OpT::getOperationName(), results);                                                       \
    auto type = infer.tensor(op.getOperand(), "operand");                                                              \
    return failed(type) ? failure() : infer.give(*type);                                                               \
  }
SPRIG_NN_SAME_TYPE(AbsOp)
SPRIG_NN_SAME_TYPE(NegOp)
SPRIG_NN_SAME_TYPE(SignOp)
SPRIG_NN_SAME_TYPE(ExpOp)
SPRIG_NN_SAME_TYPE(LogOp)
SPRIG_NN_SAME_TYPE(Log1pOp)
SPRIG_NN_SAME_TYPE(Expm1Op)
SPRIG_NN_SAME_TYPE(SqrtOp)
SPRIG_NN_SAME_TYPE(RsqrtOp)
SPRIG_NN_SAME_TYPE(ReciprocalOp)
SPRIG_NN_SAME_TYPE(FloorOp)
SPRIG_NN_SAME_TYPE(CeilOp)
SPRIG_NN_SAME_TYPE(RoundOp)
SPRIG_NN_SAME_TYPE(SinOp)
SPRIG_NN_SAME_TYPE(CosOp)
SPRIG_NN_SAME_TYPE(TanOp)
SPRIG_NN_SAME_TYPE(AsinOp)
SPRIG_NN_SAME_TYPE(AcosOp)
SPRIG_NN_SAME_TYPE(AtanOp)
SPRIG_NN_SAME_TYPE(SinhOp)
SPRIG_NN_SAME_TYPE(CoshOp)
SPRIG_NN_SAME_TYPE(TanhOp)
SPRIG_NN_SAME_TYPE(AsinhOp)
SPRIG_NN_SAME_TYPE(AcoshOp)
SPRIG_NN_SAME_TYPE(AtanhOp)
SPRIG_NN_SAME_TYPE(ErfOp)
SPRIG_NN_SAME_TYPE(SigmoidOp)
SPRIG_NN_SAME_TYPE(ReluOp)
SPRIG_NN_SAME_TYPE(NotOp)
// Activations among the composites.
SPRIG_NN_SAME_TYPE(SiluOp)
SPRIG_NN_SAME_TYPE(MishOp)
SPRIG_NN_SAME_TYPE(SoftplusOp)
SPRIG_NN_SAME_TYPE(SoftsignOp)
SPRIG_NN_SAME_TYPE(HardSwishOp)
SPRIG_NN_SAME_TYPE(GeluOp)
SPRIG_NN_SAME_TYPE(EluOp)
SPRIG_NN_SAME_TYPE(CeluOp)
SPRIG_NN_SAME_TYPE(LeakyReluOp)
#undef SPRIG_NN_SAME_TYPE

SPRIG_NN_INFER(InRangeOp) {
  Inference infer(location, InRangeOp::getOperationName(), results);
  auto operand = infer.tensor(op.getOperand(), "operand");
  if (failed(operand) || failed(infer.present(op.getLowAttr(), "low")) ||
      failed(infer.present(op.getHighAttr(), "high")))
    return failure();
  double low = op.getLow().convertToDouble(), high = op.getHigh().convertToDouble();
  if (!(low <= high)) return infer.fail("has the range from ", low, " to ", high, ", which holds no value");
  return infer.give(*operand);
}

SPRIG_NN_INFER(SeluOp) {
  Inference infer(location, SeluOp::getOperationName(), results);
  auto type = infer.tensor(op.getOperand(), "operand");
  if (failed(type) || failed(infer.present(op.getAlphaAttr(), "alpha")) ||
      failed(infer.present(op.getGammaAttr(), "gamma")))
    return failure();
  return infer.give(*type);
}

SPRIG_NN_INFER(HardSigmoidOp) {
  Inference infer(location, HardSigmoidOp::getOperationName(), results);
  auto type = infer.tensor(op.getOperand(), "operand");
  if (failed(type) || failed(infer.present(op.getAlphaAttr(), "alpha")) ||
      failed(infer.present(op.getBetaAttr(), "beta")))
    return failure();
  return infer.give(*type);
}

#define SPRIG_NN_PREDICATE(OpT)                                                                                        \
  SPRIG_NN_INFER(OpT) {                                                                                                \
    Inference infer(location, OpT::getOperationName(), results);                                                       \
    auto type = infer.tensor(op.getOperand(), "operand");                                                              \
    if (failed(type)) return failure();                                                                                \
    return infer.give(type->getShape(), IntegerType::get(type->getContext(), 1));                                      \
  }
SPRIG_NN_PREDICATE(IsNanOp)
SPRIG_NN_PREDICATE(IsInfOp)
#undef SPRIG_NN_PREDICATE

/// The types of lhs and rhs and their common shape.
static LogicalResult inferBinary(const Inference &infer, Value lhs, Value rhs, bool sameElementType,
                                 Type resultElement) {
  auto a = infer.tensor(lhs, "lhs"), b = infer.tensor(rhs, "rhs");
  if (failed(a) || failed(b)) return failure();
  if (sameElementType && failed(infer.sameElementType(*a, "lhs", *b, "rhs"))) return failure();
  auto shape = infer.broadcast(*a, "lhs", *b, "rhs");
  if (failed(shape)) return failure();
  return infer.give(*shape, resultElement ? resultElement : a->getElementType());
}

#define SPRIG_NN_BINARY(OpT)                                                                                           \
  SPRIG_NN_INFER(OpT) {                                                                                                \
    return inferBinary(Inference(location, OpT::getOperationName(), results), op.getLhs(), op.getRhs(), true, {});     \
  }
SPRIG_NN_BINARY(AddOp)
SPRIG_NN_BINARY(SubOp)
SPRIG_NN_BINARY(MulOp)
SPRIG_NN_BINARY(DivOp)
SPRIG_NN_BINARY(RemOp)
SPRIG_NN_BINARY(ModOp)
SPRIG_NN_BINARY(MaxOp)
SPRIG_NN_BINARY(MinOp)
SPRIG_NN_BINARY(AndOp)
SPRIG_NN_BINARY(OrOp)
SPRIG_NN_BINARY(XorOp)
SPRIG_NN_BINARY(ShlOp)
SPRIG_NN_BINARY(ShrOp)
#undef SPRIG_NN_BINARY

SPRIG_NN_INFER(PowOp) {
  return inferBinary(Inference(location, PowOp::getOperationName(), results), op.getLhs(), op.getRhs(), false, {});
}

SPRIG_NN_INFER(CompareOp) {
  Inference infer(location, CompareOp::getOperationName(), results);
  if (failed(infer.present(op.getPredicateAttr(), "predicate"))) return failure();
  return inferBinary(infer, op.getLhs(), op.getRhs(), true, IntegerType::get(op.getPredicateAttr().getContext(), 1));
}

SPRIG_NN_INFER(SelectOp) {
  Inference infer(location, SelectOp::getOperationName(), results);
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
