// Softmaxes and normalisations: decompositions, and the gradients that are shorter than those of the decomposition.
// Half types are computed in f32 and rounded once, at the end.
#include "dialects/NN/VjpExpression.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNUnary.h"
#include <limits>

using namespace mlir;

namespace sprig::ir {

/// The lowest number of f32 or f64.
static double lowestFinite(Type element) {
  return element.isF64() ? std::numeric_limits<double>::lowest() : std::numeric_limits<float>::lowest();
}

/// The dimensions from `first` on.
static SmallVector<int64_t> axesFrom(int64_t first, int64_t rank) {
  return llvm::to_vector(llvm::seq<int64_t>(first, rank));
}

// The maximum is taken off first, so that no exponential overflows. A row of -inf alone gives NaN, as in ONNX; where
// the rows are masked, a finite maximum makes all of its exponentials zeros. One division a row: the sum is 1 at least.
Values SoftmaxOp::decompose(OpBuilder &b) {
  Expression e(b, getLoc());
  Value x = e.widened(getOperand());
  int64_t axis = getAxis();
  bool isMasked = getMasked();
  Value top = e.reduce(ReduceKind::max, x, axis, true);
  if (isMasked) top = e.binary<MaxOp>(top, e.splat(x, lowestFinite(Expression::typeOf(x).getElementType())));
  Value exponentials = e.unary<ExpOp>(e.sub(x, top));
  Value sum = e.reduce(ReduceKind::sum, exponentials, axis, true);
  if (isMasked) sum = e.binary<MaxOp>(sum, e.splat(x, 1));
  return one(e.cast(e.mul(exponentials, e.unary<ReciprocalOp>(sum)), getType().getElementType()));
}

Values LogSoftmaxOp::decompose(OpBuilder &b) {
  Expression e(b, getLoc());
  Value x = e.widened(getOperand());
  int64_t axis = getAxis();
  Value shifted = e.sub(x, e.reduce(ReduceKind::max, x, axis, true));
  Value sum = e.reduce(ReduceKind::sum, e.unary<ExpOp>(shifted), axis, true);
  return one(e.cast(e.sub(shifted, e.unary<LogOp>(sum)), getType().getElementType()));
}

LogicalResult SoftmaxOp::buildVjp(VjpExpression &e) {
  if (!e.needs(0)) return success();
  Value y = e.widened(getResult()), g = e.widened(e.g());
  Value inner = e.reduce(ReduceKind::sum, e.mul(g, y), getAxis(), true);
  e.give(0, e.cast(e.mul(y, e.sub(g, inner)), getType().getElementType()));
  return success();
}

LogicalResult LogSoftmaxOp::buildVjp(VjpExpression &e) {
  if (!e.needs(0)) return success();
  Value y = e.widened(getResult()), g = e.widened(e.g());
  Value sum = e.reduce(ReduceKind::sum, g, getAxis(), true);
  e.give(0, e.cast(e.sub(g, e.mul(e.unary<ExpOp>(y), sum)), getType().getElementType()));
  return success();
}

/// Elements along these axes.
static int64_t countAlong(Value x, ArrayRef<int64_t> axes) {
  auto sizes = llvm::map_range(axes, [&](int64_t axis) { return Expression::typeOf(x).getDimSize(axis); });
  return llvm::product_of(sizes, int64_t(1));
}

namespace {
/// A standardised value (x - mean) / sqrt(biased variance + epsilon) over axes, and its way back. The variance is taken
/// of the differences (two passes).
struct Standardized {
  Standardized(Expression &e, Value x, ArrayRef<int64_t> axes, double epsilon)
      : e(e), axes(axes), count(countAlong(x, axes)) {
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

  Expression &e;
  SmallVector<int64_t> axes;
  int64_t count;
  Value value, inverseDeviation;
};
} // namespace

Values LayerNormOp::decompose(OpBuilder &b) {
  Expression e(b, getLoc());
  SmallVector<int64_t> axes = axesFrom(getAxis(), getType().getRank());
  Value x = Standardized(e, e.widened(getOperand()), axes, getEpsilon().convertToDouble()).value;
  x = e.mul(x, e.widened(getScale()));
  if (getShift()) x = e.add(x, e.widened(getShift()));
  return one(e.cast(x, getType().getElementType()));
}

LogicalResult LayerNormOp::buildVjp(VjpExpression &e) {
  auto given = [&](Value v, Value like) { return e.cast(v, VjpExpression::typeOf(like).getElementType()); };
  Standardized x(e, e.widened(getOperand()), axesFrom(getAxis(), getType().getRank()), getEpsilon().convertToDouble());
  Value g = e.widened(e.g());
  e.give(0, getOperand(), [&] { return given(x.back(e.mul(g, e.widened(getScale()))), getOperand()); });
  e.give(1, getScale(), [&] { return given(e.mul(g, x.value), getScale()); });
  if (getShift()) e.give(2, getShift(), [&] { return given(g, getShift()); });
  return success();
}

Values RmsNormOp::decompose(OpBuilder &b) {
  Expression e(b, getLoc());
  auto type = getType();
  Value x = e.widened(getOperand());
  SmallVector<int64_t> axes = axesFrom(getAxis(), type.getRank());
  Value sum = e.reduce(ReduceKind::sum, e.mul(x, x), axes, true);
  Value mean = e.div(sum, e.splat(sum, countAlong(x, axes)));
  Value scale = e.unary<RsqrtOp>(e.add(mean, e.splat(mean, getEpsilon().convertToDouble())));
  return one(e.cast(e.mul(e.mul(x, scale), e.widened(getScale())), type.getElementType()));
}

/// A parameter [C] as [C, 1, ...], which broadcasts over [N, C, ...].
static Value perChannel(Expression &e, Value parameter, int64_t rank) {
  SmallVector<int64_t> shape(rank - 1, 1);
  shape[0] = cast<RankedTensorType>(parameter.getType()).getDimSize(0);
  return e.reshape(e.widened(parameter), shape);
}

Values GroupNormOp::decompose(OpBuilder &b) {
  Expression e(b, getLoc());
  auto type = getType();
  // [N, C, ...] as [N, groups, C / groups * ...]: a group is a row.
  int64_t batch = type.getDimSize(0), groups = getGroups(), channels = type.getDimSize(1);
  int64_t rest = llvm::product_of(type.getShape().drop_front(2), int64_t(1));
  Value rows = e.reshape(e.widened(getOperand()), {batch, groups, channels / groups * rest});
  Value x = e.reshape(Standardized(e, rows, 2, getEpsilon().convertToDouble()).value, type.getShape());
  x = e.add(e.mul(x, perChannel(e, getScale(), type.getRank())), perChannel(e, getShift(), type.getRank()));
  return one(e.cast(x, type.getElementType()));
}

// (x - mean) * (scale / sqrt(variance + epsilon)) + shift: the factor is one number per channel.
Values BatchNormOp::decompose(OpBuilder &b) {
  Expression e(b, getLoc());
  auto type = getType();
  auto channel = [&](Value parameter) { return perChannel(e, parameter, type.getRank()); };
  Value variance = e.widened(getVariance());
  Value factor = e.mul(e.widened(getScale()),
                       e.unary<RsqrtOp>(e.add(variance, e.splat(variance, getEpsilon().convertToDouble()))));
  Value x = e.sub(e.widened(getOperand()), channel(getMean()));
  x = e.add(e.mul(x, channel(factor)), channel(getShift()));
  return one(e.cast(x, type.getElementType()));
}

namespace {
/// What a batch norm in training computes of all values of a channel.
struct ChannelStatistics {
  ChannelStatistics(Expression &e, Value x) : e(e), perChannel(size_t(Expression::typeOf(x).getRank() - 1), 1) {
    auto type = Expression::typeOf(x);
    perChannel[0] = type.getDimSize(1);
    count = perChannel[0] ? type.getNumElements() / perChannel[0] : 0;
    llvm::append_range(axes, llvm::seq<int64_t>(2, type.getRank()));
  }
  Value channel(Value v) { return e.reshape(e.widened(v), perChannel); }
  Value mean(Value v, StringRef name) {
    Value sum = e.sumOfRanks(v, axes, name);
    return e.div(sum, e.splat(sum, count));
  }

  Expression &e;
  SmallVector<int64_t> axes{0}, perChannel;
  int64_t count;
};

/// The gradients of a batch norm. Two sums of the cotangent give everything: of it, and of it times the differences
/// from the mean. One pass over both tensors for the sums, one for the gradient.
struct BatchNormGradient : ChannelStatistics {
  /// The statistics are computed where none are given.
  BatchNormGradient(Expression &e, Value x, Value g, Value mean, Value variance, double epsilon)
      : ChannelStatistics(e, x), g(g) {
    centred = e.sub(x, channel(mean ? mean : this->mean(x, kMeanSum)));
    if (!variance) variance = this->mean(e.mul(centred, centred), kVarianceSum);
    inverse = e.unary<RsqrtOp>(e.add(variance, e.splat(variance, epsilon)));
    along = e.mul(e.sumOfRanks(e.mul(g, centred), axes, kVarianceSum), inverse);
    total = e.sumOfRanks(g, axes, kMeanSum);
  }
  Value ofOperand(Value scale) {
    Value shift = e.div(total, e.splat(total, count)), slope = e.mul(e.div(along, e.splat(along, count)), inverse);
    Value gradient = e.sub(e.sub(g, channel(shift)), e.mul(centred, channel(slope)));
    return e.mul(gradient, channel(e.mul(e.widened(scale), inverse)));
  }

  Value g, centred, inverse;
  Value along, total; // the gradients by scale and shift
};
} // namespace

// Statistics over everything but the channel; the variance is taken of the differences (two passes).
Values BatchNormTrainOp::decompose(OpBuilder &b) {
  Expression e(b, getLoc());
  Value x = e.widened(getOperand());
  ChannelStatistics of(e, x);
  Value average = of.mean(x, kMeanSum);
  Value centred = e.sub(x, of.channel(average));
  Value variance = of.mean(e.mul(centred, centred), kVarianceSum);
  Value deviation = e.unary<RsqrtOp>(e.add(variance, e.splat(variance, getEpsilon().convertToDouble())));
  Value factor = e.mul(deviation, e.widened(getScale()));
  Value y = e.add(e.mul(centred, of.channel(factor)), of.channel(getShift()));
  if (getUnbiased() && of.count > 1)
    variance = e.mul(variance, e.splat(variance, double(of.count) / double(of.count - 1)));
  Type element = Expression::typeOf(getResult()).getElementType();
  return SmallVector<Value>{e.cast(y, element), e.cast(average, element), e.cast(variance, element)};
}

// With the forward pass's own statistics. Those of groups are known to each shard of the samples alone, which computes
// them again.
LogicalResult BatchNormTrainOp::buildVjp(VjpExpression &e) {
  auto type = Expression::typeOf(getResult());
  Type element = type.getElementType();
  double count = double(type.getNumElements()) / double(std::max<int64_t>(type.getDimSize(1), 1));
  if (getGroups()) {
    if (e.isReached(2)) return emitOpError("has no gradient through the variance of groups");
    auto gradients =
        BatchNormTrainGradOp::create(e.b, e.loc, getOperand(), getScale(), e.g(), getEpsilonAttr(), getGroupsAttr());
    for (unsigned i = 0; i < 3; ++i)
      if (e.needs(i)) e.give(i, gradients.getResult(i));
    return success();
  }
  // Results of half types are rounded: their statistics are taken again.
  bool isRounded = !element.isF32() && !element.isF64();
  Value x = e.widened(getOperand()), g = e.widened(e.g());
  BatchNormGradient gradient(e, x, g, isRounded ? Value() : getMean(),
                             isRounded || getUnbiased() ? Value() : getVariance(), getEpsilon().convertToDouble());
  if (e.needs(0)) {
    Value ofOperand = gradient.ofOperand(getScale());
    // mean = sum(x) / n and variance = sum((x - mean)^2) / n, or n - 1.
    if (e.isReached(1)) ofOperand = e.add(ofOperand, e.scale(gradient.channel(e.cotangent(1)), 1.0 / count));
    if (e.isReached(2)) {
      double divisor = getUnbiased() ? count - 1 : count;
      Value ofVariance = e.scale(gradient.channel(e.cotangent(2)), 2.0 / divisor);
      ofOperand = e.add(ofOperand, e.mul(gradient.centred, ofVariance));
    }
    e.give(0, e.cast(ofOperand, element));
  }
  if (e.needs(1)) e.give(1, e.cast(gradient.along, element));
  if (e.needs(2)) e.give(2, e.cast(gradient.total, element));
  return success();
}

Values BatchNormTrainGradOp::decompose(OpBuilder &b) {
  Expression e(b, getLoc());
  Type element = Expression::typeOf(getOperand()).getElementType();
  Value x = e.widened(getOperand()), g = e.widened(getCotangent());
  BatchNormGradient gradient(e, x, g, Value(), Value(), getEpsilon().convertToDouble());
  return SmallVector<Value>{e.cast(gradient.ofOperand(getScale()), element), e.cast(gradient.along, element),
                            e.cast(gradient.total, element)};
}

// That of the decomposition, which knows of no groups.
LogicalResult BatchNormTrainGradOp::buildVjp(VjpExpression &e) {
  if (getGroups()) return emitOpError("has no gradient of its own in groups");
  return e.giveByDecomposition(*this, {0, 1, 2});
}

} // namespace sprig::ir
