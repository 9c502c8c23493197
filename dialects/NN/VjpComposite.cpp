// Vector-Jacobian products of softmaxes and normalisations. Half types are computed in f32, as in the decompositions.
#include "dialects/NN/VjpExpression.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNGradient.h"
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

namespace {
/// The gradients of a batch norm. Two sums of the cotangent give everything: of it, and of it times the differences
/// from the mean. One pass over both tensors for the sums, one for the gradient.
struct BatchNormGradient {
  /// The statistics are computed where none are given.
  BatchNormGradient(Expression &e, Value x, Value g, Value mean, Value variance, double epsilon) : e(e), g(g) {
    auto type = Expression::typeOf(x);
    int64_t rank = type.getRank(), channels = type.getDimSize(1);
    count = channels ? type.getNumElements() / channels : 0;
    llvm::append_range(axes, llvm::seq<int64_t>(2, rank));
    perChannel.assign(size_t(rank - 1), 1);
    perChannel[0] = channels;
    centred = e.sub(x, channel(mean ? mean : this->mean(x, kMeanSum)));
    if (!variance) variance = this->mean(e.mul(centred, centred), kVarianceSum);
    inverse = e.unary<RsqrtOp>(e.add(variance, e.splat(variance, epsilon)));
    along = e.mul(e.sumOfRanks(e.mul(g, centred), axes, kVarianceSum), inverse);
    total = e.sumOfRanks(g, axes, kMeanSum);
  }
  Value channel(Value v) { return e.reshape(e.widened(v), perChannel); }
  Value mean(Value v, StringRef name) {
    Value sum = e.sumOfRanks(v, axes, name);
    return e.div(sum, e.splat(sum, count));
  }
  Value ofOperand(Value scale) {
    Value shift = e.div(total, e.splat(total, count)), slope = e.mul(e.div(along, e.splat(along, count)), inverse);
    Value gradient = e.sub(e.sub(g, channel(shift)), e.mul(centred, channel(slope)));
    return e.mul(gradient, channel(e.mul(e.widened(scale), inverse)));
  }

  Expression &e;
  Value g;
  SmallVector<int64_t> axes{0}, perChannel;
  int64_t count;
  Value centred, inverse;
  Value along, total; // the gradients by scale and shift
};
} // namespace

// With the forward pass's own statistics. Those of groups are known to each shard of the samples alone, which computes
// them again.
LogicalResult BatchNormTrainOp::buildVjp(VjpBuilder &vjp) {
  VjpExpression e(vjp);
  auto type = cast<RankedTensorType>(getResult().getType());
  Type element = type.getElementType();
  double count = double(type.getNumElements()) / double(std::max<int64_t>(type.getDimSize(1), 1));
  if (getGroups()) {
    if (vjp.isReached(2)) return emitOpError("has no gradient through the variance of groups");
    auto gradients =
        BatchNormTrainGradOp::create(e.b, e.loc, getOperand(), getScale(), e.g(), getEpsilonAttr(), getGroupsAttr());
    for (unsigned i = 0; i < 3; ++i)
      if (vjp.needs(i)) vjp.give(i, gradients.getResult(i));
    return success();
  }
  // Results of half types are rounded: their statistics are taken again.
  bool isRounded = !element.isF32() && !element.isF64();
  Value x = e.widened(getOperand()), g = e.widened(e.g());
  BatchNormGradient gradient(e, x, g, isRounded ? Value() : getMean(),
                             isRounded || getUnbiased() ? Value() : getVariance(), getEpsilon().convertToDouble());
  if (vjp.needs(0)) {
    Value ofOperand = gradient.ofOperand(getScale());
    // mean = sum(x) / n and variance = sum((x - mean)^2) / n, or n - 1.
    if (vjp.isReached(1)) ofOperand = e.add(ofOperand, e.scale(gradient.channel(vjp.cotangent(1)), 1.0 / count));
    if (vjp.isReached(2)) {
      double divisor = getUnbiased() ? count - 1 : count;
      Value ofVariance = e.scale(gradient.channel(vjp.cotangent(2)), 2.0 / divisor);
      ofOperand = e.add(ofOperand, e.mul(gradient.centred, ofVariance));
    }
    vjp.give(0, e.cast(ofOperand, element));
  }
  if (vjp.needs(1)) vjp.give(1, e.cast(gradient.along, element));
  if (vjp.needs(2)) vjp.give(2, e.cast(gradient.total, element));
  return success();
}

Values BatchNormTrainGradOp::decompose(OpBuilder &b) {
  Expression e(b, getLoc());
  Type element = cast<RankedTensorType>(getOperand().getType()).getElementType();
  Value x = e.widened(getOperand()), g = e.widened(getCotangent());
  BatchNormGradient gradient(e, x, g, Value(), Value(), getEpsilon().convertToDouble());
  return SmallVector<Value>{e.cast(gradient.ofOperand(getScale()), element), e.cast(gradient.along, element),
                            e.cast(gradient.total, element)};
}

// That of the decomposition, which knows of no groups.
LogicalResult BatchNormTrainGradOp::buildVjp(VjpBuilder &vjp) {
  if (getGroups()) return emitOpError("has no gradient of its own in groups");
  auto copy = cast<BatchNormTrainGradOp>(vjp.b.clone(*getOperation()));
  SmallVector<Value> targets, cotangents;
  for (auto [i, operand] : llvm::enumerate(getOperands())) {
    // Values of their own, so that no other way from the operands is counted.
    targets.push_back(AfterOp::create(vjp.b, vjp.loc, operand, vjp.cotangent()));
    copy->setOperand(unsigned(i), targets.back());
  }
  for (unsigned i = 0; i < getNumResults(); ++i) cotangents.push_back(vjp.cotangent(i));
  Values values = copy.decompose(vjp.b);
  if (failed(values)) return emitOpError("does not decompose");
  copy.erase();
  auto gradients = vjp.pullback(vjp.b, *values, cotangents, targets);
  if (failed(gradients)) return failure();
  for (auto [i, gradient] : llvm::enumerate(*gradients))
    if (vjp.needs(unsigned(i))) vjp.give(unsigned(i), gradient);
  return success();
}

} // namespace sprig::ir
