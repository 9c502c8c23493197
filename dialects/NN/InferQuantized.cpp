// Result types of quantisation and of products of quantised tensors.
#include "dialects/NN/Infer.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/IntegerBounds.h"
#include "dialects/NN/NNQuantized.h"

using namespace mlir;

namespace sprig::ir {

/// A scale or zero point must broadcast to the tensor that it is for.
static LogicalResult checkSpread(const Inference &infer, RankedTensorType parameter, StringRef name,
                                 RankedTensorType operand) {
  auto shape = broadcastShapes(parameter.getShape(), operand.getShape());
  if (succeeded(shape) && ArrayRef<int64_t>(*shape) == operand.getShape()) return success();
  return infer.fail("does not broadcast ", name, " ", describe(parameter), " to ", describe(operand));
}

namespace {
struct QuantizedOperands {
  RankedTensorType operand, scale, zero;
};
} // namespace

/// Operand, scale and zero point; the first has the element type of one of the others, which broadcast to it.
template <typename Adaptor>
static FailureOr<QuantizedOperands> inferOperands(const Inference &infer, Adaptor op, bool isOfScale) {
  auto operand = infer.tensor(op.getOperand(), "operand"), scale = infer.tensor(op.getScale(), "scale"),
       zero = infer.tensor(op.getZero(), "zero");
  if (failed(operand) || failed(scale) || failed(zero) ||
      failed(infer.sameElementType(*operand, "operand", isOfScale ? *scale : *zero, isOfScale ? "scale" : "zero")) ||
      failed(checkSpread(infer, *scale, "scale", *operand)) || failed(checkSpread(infer, *zero, "zero", *operand)))
    return failure();
  return QuantizedOperands{*operand, *scale, *zero};
}

LogicalResult QuantizeOp::inferTypes(const Inference &infer, Adaptor op) {
  auto types = inferOperands(infer, op, /*isOfScale=*/true);
  return failed(types) ? failure() : infer.give(types->operand.getShape(), types->zero.getElementType());
}

LogicalResult FakeQuantizeOp::inferTypes(const Inference &infer, Adaptor op) {
  auto types = inferOperands(infer, op, /*isOfScale=*/true);
  if (failed(types)) return failure();
  IntegerBounds all = integersOf(types->zero.getElementType());
  IntegerBounds kept = all.clipped(op.getLow(), op.getHigh());
  if (kept.low < all.low || kept.high > all.high || kept.low >= kept.high)
    return infer.fail("clips to ", kept.low, " to ", kept.high, ", expected two of the integers that zero ",
                      describe(types->zero), " may be, ", all.low, " to ", all.high, ", in order");
  return infer.give(types->operand.getShape(), types->operand.getElementType());
}

LogicalResult DequantizeOp::inferTypes(const Inference &infer, Adaptor op) {
  auto types = inferOperands(infer, op, /*isOfScale=*/false);
  return failed(types) ? failure() : infer.give(types->operand.getShape(), types->scale.getElementType());
}

/// A zero point is one number, or one for each place of `axis`, of the operand's own type.
static LogicalResult checkZero(const Inference &infer, RankedTensorType zero, RankedTensorType operand,
                               StringRef operandName, int64_t axis) {
  std::string name = (operandName + "_zero").str();
  if (failed(infer.sameElementType(zero, name, operand, operandName))) return failure();
  if (zero.getNumElements() == 1 && zero.getRank() <= operand.getRank()) return success();
  if (axis >= 0 && zero.getRank() <= operand.getRank() && zero.getNumElements() == operand.getDimSize(axis)) {
    int64_t own = axis - operand.getRank() + zero.getRank();
    if (own >= 0 && zero.getDimSize(own) == zero.getNumElements()) return success();
  }
  return infer.fail("takes one ", name, axis < 0 ? "" : " or one for each place of dimension ",
                    axis < 0 ? "" : std::to_string(axis), ", got ", describe(zero), " for ", describe(operand));
}

LogicalResult MatmulIntegerOp::inferTypes(const Inference &infer, Adaptor op) {
  auto lhs = infer.tensor(op.getLhs(), "lhs"), rhs = infer.tensor(op.getRhs(), "rhs"),
       lhsZero = infer.tensor(op.getLhsZero(), "lhs_zero"), rhsZero = infer.tensor(op.getRhsZero(), "rhs_zero");
  if (failed(lhs) || failed(rhs) || failed(lhsZero) || failed(rhsZero) || failed(infer.rankAtLeast(*lhs, "lhs", 2)) ||
      failed(infer.rankAtLeast(*rhs, "rhs", 2)))
    return failure();
  bool transposed = op.getTransposeRhs();
  ArrayRef<int64_t> a = lhs->getShape(), b = rhs->getShape();
  auto [k, n] = std::pair(b[b.size() - 2], b[b.size() - 1]);
  if (transposed) std::swap(k, n);
  if (a.back() != k)
    return infer.fail("contracts ", a.back(), " columns of lhs with ", k, transposed ? " columns" : " rows",
                      " of rhs (", describe(*lhs), " and ", describe(*rhs), ")");
  auto shape = broadcastShapes(a.drop_back(2), b.drop_back(2));
  if (failed(shape))
    return infer.fail("does not broadcast the leading dimensions of lhs ", describe(*lhs), " with those of rhs ",
                      describe(*rhs));
  int64_t columnAxis = rhs->getRank() - (transposed ? 2 : 1);
  if (failed(checkZero(infer, *lhsZero, *lhs, "lhs", lhs->getRank() - 2)) ||
      failed(checkZero(infer, *rhsZero, *rhs, "rhs", columnAxis)))
    return failure();
  shape->append({a[a.size() - 2], n});
  return infer.give(*shape, IntegerType::get(lhs->getContext(), 32));
}

LogicalResult ConvIntegerOp::inferTypes(const Inference &infer, Adaptor op) {
  auto input = infer.tensor(op.getInput(), "input"), filter = infer.tensor(op.getFilter(), "filter"),
       inputZero = infer.tensor(op.getInputZero(), "input_zero"),
       filterZero = infer.tensor(op.getFilterZero(), "filter_zero");
  if (failed(input) || failed(filter) || failed(inputZero) || failed(filterZero)) return failure();
  auto shape = inferConvolution(infer, *input, *filter, op.getGroups(), /*channelsLast=*/false, op.getStridesAttr(),
                                op.getDilationsAttr(), op.getPaddingAttr());
  if (failed(shape) || failed(checkZero(infer, *inputZero, *input, "input", -1)) ||
      failed(checkZero(infer, *filterZero, *filter, "filter", 0)))
    return failure();
  return infer.give(*shape, IntegerType::get(input->getContext(), 32));
}

} // namespace sprig::ir
