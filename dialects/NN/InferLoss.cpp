// Result types of losses, of random numbers, and of what differentiation is asked for.
#include "dialects/NN/Infer.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNLoss.h"
#include "dialects/NN/NNRandom.h"

using namespace mlir;

namespace sprig::ir {

LogicalResult ClassIndexOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand");
  if (failed(operand) || failed(infer.present(op.getClassesAttr(), "classes"))) return failure();
  return infer.give(*operand);
}

/// What a loss of elements of this shape gives.
static LogicalResult giveReduced(const Inference &infer, LossReductionAttr reduction, ArrayRef<int64_t> shape,
                                 Type element) {
  if (failed(infer.present(reduction, "reduction"))) return failure();
  return infer.give(reduction.getValue() == LossReduction::none ? shape : ArrayRef<int64_t>(), element);
}

template <typename Adaptor> static LogicalResult inferClassLoss(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand"), targets = infer.tensor(op.getTargets(), "targets");
  if (failed(operand) || failed(targets) || failed(infer.rankAtLeast(*operand, "operand", 1))) return failure();
  ArrayRef<int64_t> rows = operand->getShape().drop_back();
  int64_t classes = operand->getShape().back();
  if (targets->getShape() != rows)
    return infer.fail("has targets ", describe(*targets), " for operand ", describe(*operand),
                      ", whose last dimension are the classes");
  if (op.getWeights()) {
    auto weights = infer.tensor(op.getWeights(), "weights");
    if (failed(weights) || failed(infer.sameElementType(*operand, "operand", *weights, "weights"))) return failure();
    if (weights->getShape() != ArrayRef<int64_t>(classes))
      return infer.fail("has weights ", describe(*weights), " for ", classes, " classes");
  }
  return giveReduced(infer, op.getReductionAttr(), rows, operand->getElementType());
}

LogicalResult CrossEntropyOp::inferTypes(const Inference &infer, Adaptor op) {
  if (FloatAttr smoothing = op.getLabelSmoothingAttr()) {
    double value = smoothing.getValueAsDouble();
    if (!(value >= 0 && value <= 1)) return infer.fail("has label_smoothing ", value, "; expected 0 to 1");
  }
  return inferClassLoss(infer, op);
}
LogicalResult NllLossOp::inferTypes(const Inference &infer, Adaptor op) { return inferClassLoss(infer, op); }

template <typename Adaptor> static LogicalResult inferElementLoss(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand"), targets = infer.tensor(op.getTargets(), "targets");
  if (failed(operand) || failed(targets)) return failure();
  if (*operand != *targets) return infer.fail("has targets ", describe(*targets), " for operand ", describe(*operand));
  return giveReduced(infer, op.getReductionAttr(), operand->getShape(), operand->getElementType());
}
LogicalResult MseLossOp::inferTypes(const Inference &infer, Adaptor op) { return inferElementLoss(infer, op); }
LogicalResult L1LossOp::inferTypes(const Inference &infer, Adaptor op) { return inferElementLoss(infer, op); }
LogicalResult HuberLossOp::inferTypes(const Inference &infer, Adaptor op) { return inferElementLoss(infer, op); }
LogicalResult BceLossOp::inferTypes(const Inference &infer, Adaptor op) { return inferElementLoss(infer, op); }
LogicalResult BceWithLogitsLossOp::inferTypes(const Inference &infer, Adaptor op) {
  return inferElementLoss(infer, op);
}
LogicalResult KlDivLossOp::inferTypes(const Inference &infer, Adaptor op) { return inferElementLoss(infer, op); }

static LogicalResult checkDims(const Inference &infer, IntegerAttr dims, RankedTensorType of) {
  if (failed(infer.present(dims, "dims"))) return failure();
  if (dims.getInt() >= 0 && dims.getInt() <= of.getRank()) return success();
  return infer.fail("has dims ", dims.getInt(), " of ", describe(of));
}

LogicalResult LossMeanOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand");
  if (failed(operand) || failed(checkDims(infer, op.getDimsAttr(), *operand))) return failure();
  return infer.give(ArrayRef<int64_t>(), operand->getElementType());
}

LogicalResult LossMeanGradOp::inferTypes(const Inference &infer, Adaptor op) {
  auto cotangent = infer.tensor(op.getCotangent(), "cotangent"), like = infer.tensor(op.getLike(), "like");
  if (failed(cotangent) || failed(like) || failed(checkDims(infer, op.getDimsAttr(), *like))) return failure();
  if (cotangent->getRank()) return infer.fail("has cotangent ", describe(*cotangent), "; expected one number");
  return infer.give(*cotangent);
}

LogicalResult LossScaleOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand");
  if (failed(operand) || failed(infer.present(op.getFactorAttr(), "factor"))) return failure();
  return infer.give(*operand);
}

LogicalResult PhiloxOp::inferTypes(const Inference &infer, Adaptor op) {
  auto index = infer.tensor(op.getIndex(), "index"), key = infer.tensor(op.getKey(), "key"),
       counter = infer.tensor(op.getCounter(), "counter");
  if (failed(index) || failed(key) || failed(counter)) return failure();
  auto shape = infer.broadcast(*index, "index", *key, "key");
  if (failed(shape)) return failure();
  auto both = infer.broadcast(index->clone(*shape), "index", *counter, "counter");
  if (failed(both)) return failure();
  return infer.give(*both, IntegerType::get(index->getContext(), 32, IntegerType::Unsigned));
}

LogicalResult DropoutOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand"), key = infer.tensor(op.getKey(), "key"),
       counter = infer.tensor(op.getCounter(), "counter");
  if (failed(operand) || failed(key) || failed(counter) || failed(infer.present(op.getRatioAttr(), "ratio")))
    return failure();
  double ratio = op.getRatioAttr().getValueAsDouble();
  if (!(ratio >= 0 && ratio <= 1)) return infer.fail("has ratio ", ratio, "; expected 0 to 1");
  for (auto [type, name] : {std::pair(*key, "key"), std::pair(*counter, "counter")})
    if (type.getNumElements() != 1) return infer.fail("has ", name, " ", describe(type), ", expected one element");
  return infer.give(*operand);
}

LogicalResult StopGradientOp::inferTypes(const Inference &infer, Adaptor op) {
  return infer.giveTypeOf(op.getOperand());
}

} // namespace sprig::ir
