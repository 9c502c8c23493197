// Vector-Jacobian products of softmaxes and normalisations. Half types are computed in f32, as in the decompositions.
#include "dialects/NN/VjpExpression.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNUnary.h"

using namespace mlir;

namespace sprig::ir {

LogicalResult SoftmaxOp::buildVjp(VjpBuilder &vjp) {
  if (!vjp.needs(0)) return success();
  VjpExpression e(vjp);
  Value y = e.widened(getResult()), g = e.widened(e.g());
  Value inner = e.reduce(ReduceKind::sum, e.mul(g, y), getAxis(), true);
  vjp.give(0, e.cast(e.mul(y, e.sub(g, inner)), getType().getElementType()));
  return success();
}

LogicalResult LogSoftmaxOp::buildVjp(VjpBuilder &vjp) {
  if (!vjp.needs(0)) return success();
  VjpExpression e(vjp);
  Value y = e.widened(getResult()), g = e.widened(e.g());
  Value sum = e.reduce(ReduceKind::sum, g, getAxis(), true);
  vjp.give(0, e.cast(e.sub(g, e.mul(e.unary<ExpOp>(y), sum)), getType().getElementType()));
  return success();
}

namespace {
/// A standardised value (x - mean) / sqrt(variance + epsilon) over axes, and its way back.
struct Standardized {
  Standardized(VjpExpression &e, Value x, ArrayRef<int64_t> axes, double epsilon) : e(e), axes(axes) {
    for (int64_t axis : axes) count *= VjpExpression::typeOf(x).getDimSize(axis);
    Value centred = e.sub(x, mean(x));
    Value variance = mean(e.mul(centred, centred));
    inverseDeviation = e.unary<RsqrtOp>(e.add(variance, e.splat(variance, epsilon)));
    value = e.mul(centred, inverseDeviation);
  }
  Value mean(Value v) {
    Value sum = e.reduce(ReduceKind::sum, v, axes, true);
    return e.div(sum, e.splat(sum, count));
  }
  /// The cotangent of x, given that of the standardised value.
  Value back(Value g) {
    Value rest = e.sub(e.sub(g, mean(g)), e.mul(value, mean(e.mul(g, value))));
    return e.mul(rest, inverseDeviation);
  }

  VjpExpression &e;
  SmallVector<int64_t> axes;
  int64_t count = 1;
  Value value, inverseDeviation;
};
} // namespace

LogicalResult LayerNormOp::buildVjp(VjpBuilder &vjp) {
  VjpExpression e(vjp);
  auto type = getType();
  auto given = [&](Value v, Value like) { return e.cast(v, VjpExpression::typeOf(like).getElementType()); };
  Standardized x(e, e.widened(getOperand()), llvm::to_vector(llvm::seq<int64_t>(getAxis(), type.getRank())),
                 getEpsilon().convertToDouble());
  Value g = e.widened(e.g());
  e.give(0, getOperand(), [&] { return given(x.back(e.mul(g, e.widened(getScale()))), getOperand()); });
  e.give(1, getScale(), [&] { return given(e.mul(g, x.value), getScale()); });
  if (getShift()) e.give(2, getShift(), [&] { return given(g, getShift()); });
  return success();
}

// With the forward pass's own statistics, two sums of the cotangent give everything: of it, and of it times the
// differences from the mean. One pass over both tensors for the sums, one for the gradient.
LogicalResult BatchNormTrainOp::buildVjp(VjpBuilder &vjp) {
  VjpExpression e(vjp);
  auto type = cast<RankedTensorType>(getResult().getType());
  Type element = type.getElementType();
  int64_t rank = type.getRank(), channels = type.getDimSize(1), count = channels ? type.getNumElements() / channels : 0;
  SmallVector<int64_t> axes{0}, perChannel(rank - 1, 1);
  llvm::append_range(axes, llvm::seq<int64_t>(2, rank));
  perChannel[0] = channels;
  auto channel = [&](Value v) { return e.reshape(e.widened(v), perChannel); };
  auto sum = [&](Value v) { return e.reduce(ReduceKind::sum, v, axes, false); };
  auto mean = [&](Value v) {
    Value total = sum(v);
    return e.div(total, e.splat(total, count));
  };
  Value x = e.widened(getOperand()), g = e.widened(e.g());
  // Results of half types are rounded: their statistics are taken again.
  bool isRounded = !element.isF32() && !element.isF64();
  Value centred = e.sub(x, channel(isRounded ? mean(x) : getMean()));
  Value variance = isRounded ? mean(e.mul(centred, centred)) : getVariance();
  Value inverse = e.unary<RsqrtOp>(e.add(variance, e.splat(variance, getEpsilon().convertToDouble())));
  Value along = e.mul(sum(e.mul(g, centred)), inverse), total = sum(g);
  if (vjp.needs(0)) {
    Value shift = e.div(total, e.splat(total, count)), slope = e.mul(e.div(along, e.splat(along, count)), inverse);
    Value gradient = e.sub(e.sub(g, channel(shift)), e.mul(centred, channel(slope)));
    gradient = e.mul(gradient, channel(e.mul(e.widened(getScale()), inverse)));
    // mean = sum(x) / n and variance = sum((x - mean)^2) / n.
    if (vjp.isReached(1)) gradient = e.add(gradient, e.scale(channel(vjp.cotangent(1)), 1.0 / count));
    if (vjp.isReached(2)) gradient = e.add(gradient, e.mul(centred, e.scale(channel(vjp.cotangent(2)), 2.0 / count)));
    vjp.give(0, e.cast(gradient, element));
  }
  if (vjp.needs(1)) vjp.give(1, e.cast(along, element));
  if (vjp.needs(2)) vjp.give(2, e.cast(total, element));
  return success();
}

} // namespace sprig::ir
