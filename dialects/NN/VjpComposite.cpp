// Vector-Jacobian products of softmaxes and normalisations. Half types are computed in f32, as in the decompositions.
#include "dialects/NN/VjpExpression.h"

using namespace mlir;

namespace sprig::nn {

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

LogicalResult BatchNormTrainOp::buildVjp(VjpBuilder &vjp) {
  VjpExpression e(vjp);
  auto type = cast<RankedTensorType>(getResult().getType());
  int64_t rank = type.getRank();
  SmallVector<int64_t> axes{0}, perChannel(rank - 1, 1);
  llvm::append_range(axes, llvm::seq<int64_t>(2, rank));
  perChannel[0] = type.getDimSize(1);
  auto channel = [&](Value v) { return e.reshape(e.widened(v), perChannel); };
  auto perChannelSum = [&](Value v) {
    return e.cast(e.reduce(ReduceKind::sum, v, axes, false), type.getElementType());
  };
  Standardized x(e, e.widened(getOperand()), axes, getEpsilon().convertToDouble());
  Value g = e.widened(e.g());
  if (vjp.needs(0)) {
    Value gradient = x.back(e.mul(g, channel(getScale())));
    // mean = sum(x) / n and variance = sum((x - mean)^2) / n.
    if (vjp.isReached(1)) gradient = e.add(gradient, e.scale(channel(vjp.cotangent(1)), 1.0 / x.count));
    if (vjp.isReached(2)) {
      Value centred = e.div(x.value, x.inverseDeviation);
      gradient = e.add(gradient, e.mul(centred, e.scale(channel(vjp.cotangent(2)), 2.0 / x.count)));
    }
    vjp.give(0, e.cast(gradient, type.getElementType()));
  }
  if (vjp.needs(1)) vjp.give(1, perChannelSum(e.mul(g, x.value)));
  if (vjp.needs(2)) vjp.give(2, perChannelSum(g));
  return success();
}

} // namespace sprig::nn
