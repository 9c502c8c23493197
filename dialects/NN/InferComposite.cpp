// Result types of composites but activations and pools.
#include "dialects/NN/Infer.h"
#include "dialects/NN/NNComposite.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace sprig::ir {

template <typename Adaptor> static LogicalResult inferAlongAxis(const Inference &infer, Adaptor op) {
  auto type = infer.tensor(op.getOperand(), "operand");
  if (failed(type) || failed(infer.axis(op.getAxisAttr(), *type))) return failure();
  return infer.give(*type);
}
LogicalResult SoftmaxOp::inferTypes(const Inference &infer, Adaptor op) { return inferAlongAxis(infer, op); }
LogicalResult LogSoftmaxOp::inferTypes(const Inference &infer, Adaptor op) { return inferAlongAxis(infer, op); }

LogicalResult LinearOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand"), weight = infer.tensor(op.getWeight(), "weight");
  if (failed(operand) || failed(weight) || failed(infer.sameElementType(*operand, "operand", *weight, "weight")) ||
      failed(infer.rankAtLeast(*operand, "operand", 1)))
    return failure();
  if (weight->getRank() != 2)
    return infer.fail("takes a weight of rank 2, got ", describe(*weight), " of rank ", weight->getRank());
  SmallVector<int64_t> shape(operand->getShape());
  if (shape.back() != weight->getDimSize(1))
    return infer.fail("contracts ", shape.back(), " columns of operand with ", weight->getDimSize(1),
                      " columns of weight (", describe(*operand), " and ", describe(*weight), ")");
  shape.back() = weight->getDimSize(0);
  if (op.getBias()) {
    auto bias = infer.tensor(op.getBias(), "bias");
    if (failed(bias) || failed(infer.sameElementType(*operand, "operand", *bias, "bias"))) return failure();
    if (bias->getShape() != ArrayRef<int64_t>(shape.back()))
      return infer.fail("adds bias ", describe(*bias), " to ", shape.back(), " columns");
  }
  return infer.give(shape, operand->getElementType());
}

/// A parameter with one element per channel.
static LogicalResult checkPerChannel(const Inference &infer, RankedTensorType operand, Value parameter,
                                     StringRef name) {
  auto type = infer.tensor(parameter, name);
  if (failed(type) || failed(infer.sameElementType(operand, "operand", *type, name))) return failure();
  if (type->getShape() == ArrayRef<int64_t>(operand.getDimSize(1))) return success();
  return infer.fail("has ", name, " ", describe(*type), " for ", operand.getDimSize(1), " channels of operand ",
                    describe(operand));
}

LogicalResult BatchNormOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand");
  if (failed(operand) || failed(infer.rankAtLeast(*operand, "operand", 2)) ||
      failed(checkPerChannel(infer, *operand, op.getScale(), "scale")) ||
      failed(checkPerChannel(infer, *operand, op.getShift(), "shift")) ||
      failed(checkPerChannel(infer, *operand, op.getMean(), "mean")) ||
      failed(checkPerChannel(infer, *operand, op.getVariance(), "variance")) ||
      failed(infer.present(op.getEpsilonAttr(), "epsilon")))
    return failure();
  return infer.give(*operand);
}

/// Two numbers for each channel.
static LogicalResult giveChannels(const Inference &infer, RankedTensorType operand) {
  ArrayRef<int64_t> channels = operand.getShape().slice(1, 1);
  return success(succeeded(infer.give(channels, operand.getElementType())) &&
                 succeeded(infer.give(channels, operand.getElementType())));
}

/// Axes of a mesh by name.
static LogicalResult checkGroupAxes(const Inference &infer, ArrayAttr groups) {
  if (!groups) return success();
  if (groups.empty()) return infer.fail("has groups along no axis");
  llvm::SmallDenseSet<Attribute> seen;
  for (Attribute axis : groups)
    if (!seen.insert(axis).second) return infer.fail("has groups along ", axis, " twice");
  return success();
}

LogicalResult BatchNormTrainOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand");
  if (failed(operand) || failed(infer.rankAtLeast(*operand, "operand", 2)) ||
      failed(checkPerChannel(infer, *operand, op.getScale(), "scale")) ||
      failed(checkPerChannel(infer, *operand, op.getShift(), "shift")) ||
      failed(infer.present(op.getEpsilonAttr(), "epsilon")) || failed(checkGroupAxes(infer, op.getGroupsAttr())) ||
      failed(infer.give(*operand)))
    return failure();
  if (op.getUnbiased() && operand->getDimSize(1) && operand->getNumElements() == operand->getDimSize(1))
    return infer.fail("has one value for each channel of ", describe(*operand), ", which has no unbiased variance");
  return giveChannels(infer, *operand);
}

LogicalResult BatchNormTrainGradOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand"), cotangent = infer.tensor(op.getCotangent(), "cotangent");
  if (failed(operand) || failed(cotangent) || failed(infer.rankAtLeast(*operand, "operand", 2)) ||
      failed(checkPerChannel(infer, *operand, op.getScale(), "scale")) ||
      failed(infer.present(op.getEpsilonAttr(), "epsilon")) || failed(checkGroupAxes(infer, op.getGroupsAttr())))
    return failure();
  if (*operand != *cotangent)
    return infer.fail("has cotangent ", describe(*cotangent), " for operand ", describe(*operand));
  return success(succeeded(infer.give(*operand)) && succeeded(giveChannels(infer, *operand)));
}

/// A parameter that broadcasts to the operand without changing its shape.
static LogicalResult checkBroadcastsTo(const Inference &infer, RankedTensorType operand, Value parameter,
                                       StringRef name) {
  auto type = infer.tensor(parameter, name);
  if (failed(type) || failed(infer.sameElementType(operand, "operand", *type, name))) return failure();
  auto shape = broadcastShapes(operand.getShape(), type->getShape());
  if (succeeded(shape) && ArrayRef<int64_t>(*shape) == operand.getShape()) return success();
  return infer.fail("does not broadcast ", name, " ", describe(*type), " to operand ", describe(operand));
}

LogicalResult LayerNormOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand");
  if (failed(operand) || failed(infer.axis(op.getAxisAttr(), *operand)) ||
      failed(infer.present(op.getEpsilonAttr(), "epsilon")) ||
      failed(checkBroadcastsTo(infer, *operand, op.getScale(), "scale")))
    return failure();
  if (op.getShift() && failed(checkBroadcastsTo(infer, *operand, op.getShift(), "shift"))) return failure();
  return infer.give(*operand);
}

LogicalResult RmsNormOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand");
  if (failed(operand) || failed(infer.axis(op.getAxisAttr(), *operand)) ||
      failed(infer.present(op.getEpsilonAttr(), "epsilon")) ||
      failed(checkBroadcastsTo(infer, *operand, op.getScale(), "scale")))
    return failure();
  return infer.give(*operand);
}

LogicalResult GroupNormOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand");
  if (failed(operand) || failed(infer.rankAtLeast(*operand, "operand", 2)) ||
      failed(infer.present(op.getGroupsAttr(), "groups")) || failed(infer.present(op.getEpsilonAttr(), "epsilon")) ||
      failed(checkPerChannel(infer, *operand, op.getScale(), "scale")) ||
      failed(checkPerChannel(infer, *operand, op.getShift(), "shift")))
    return failure();
  int64_t groups = op.getGroups(), channels = operand->getDimSize(1);
  if (groups < 1 || channels % groups) return infer.fail("splits ", channels, " channels into ", groups, " groups");
  return infer.give(*operand);
}

} // namespace sprig::ir
