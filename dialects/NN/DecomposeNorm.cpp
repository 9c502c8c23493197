// Decompositions of softmax and the normalisations. Half types are normalised in f32 and rounded once, at the end.
#include "dialects/NN/ExpressionBuilder.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNUnary.h"
#include "llvm/ADT/Sequence.h"
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

/// (x - mean) / sqrt(biased variance + epsilon) over the axes; the variance is taken of the differences (two passes).
static Value standardize(Expression &e, Value x, ArrayRef<int64_t> axes, double epsilon) {
  int64_t count = 1;
  for (int64_t axis : axes) count *= cast<RankedTensorType>(x.getType()).getDimSize(axis);
  auto mean = [&](Value v) {
    Value sum = e.reduce(ReduceKind::sum, v, axes, true);
    return e.div(sum, e.splat(sum, count));
  };
  Value centred = e.sub(x, mean(x));
  Value variance = mean(e.mul(centred, centred));
  return e.mul(centred, e.unary<RsqrtOp>(e.add(variance, e.splat(variance, epsilon))));
}

Values LayerNormOp::decompose(OpBuilder &b) {
  Expression e(b, getLoc());
  auto type = getType();
  Value x =
      standardize(e, e.widened(getOperand()), axesFrom(getAxis(), type.getRank()), getEpsilon().convertToDouble());
  x = e.mul(x, e.widened(getScale()));
  if (getShift()) x = e.add(x, e.widened(getShift()));
  return one(e.cast(x, type.getElementType()));
}

Values RmsNormOp::decompose(OpBuilder &b) {
  Expression e(b, getLoc());
  auto type = getType();
  Value x = e.widened(getOperand());
  SmallVector<int64_t> axes = axesFrom(getAxis(), type.getRank());
  int64_t count = 1;
  for (int64_t axis : axes) count *= type.getDimSize(axis);
  Value sum = e.reduce(ReduceKind::sum, e.mul(x, x), axes, true);
  Value mean = e.div(sum, e.splat(sum, count));
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
  int64_t batch = type.getDimSize(0), groups = getGroups(), channels = type.getDimSize(1), rest = 1;
  for (int64_t size : type.getShape().drop_front(2)) rest *= size;
  Value rows = e.reshape(e.widened(getOperand()), {batch, groups, channels / groups * rest});
  Value x = e.reshape(standardize(e, rows, 2, getEpsilon().convertToDouble()), type.getShape());
  x = e.add(e.mul(x, perChannel(e, getScale(), type.getRank())), perChannel(e, getShift(), type.getRank()));
  return one(e.cast(x, type.getElementType()));
}

// Statistics over everything but the channel; the variance is taken of the differences (two passes).
Values BatchNormTrainOp::decompose(OpBuilder &b) {
  Expression e(b, getLoc());
  auto type = cast<RankedTensorType>(getResult().getType());
  int64_t channels = type.getDimSize(1), count = channels ? type.getNumElements() / channels : 0;
  SmallVector<int64_t> axes{0};
  llvm::append_range(axes, axesFrom(2, type.getRank()));
  auto channel = [&](Value parameter) { return perChannel(e, parameter, type.getRank()); };
  auto mean = [&](Value v, StringRef name) {
    Value sum = e.sumOfRanks(v, axes, name);
    return e.div(sum, e.splat(sum, count));
  };
  Value x = e.widened(getOperand());
  Value average = mean(x, kMeanSum);
  Value centred = e.sub(x, channel(average));
  Value variance = mean(e.mul(centred, centred), kVarianceSum);
  Value deviation = e.unary<RsqrtOp>(e.add(variance, e.splat(variance, getEpsilon().convertToDouble())));
  Value factor = e.mul(deviation, e.widened(getScale()));
  Value y = e.add(e.mul(centred, channel(factor)), channel(getShift()));
  if (getUnbiased() && count > 1) variance = e.mul(variance, e.splat(variance, double(count) / double(count - 1)));
  Type element = type.getElementType();
  return SmallVector<Value>{e.cast(y, element), e.cast(average, element), e.cast(variance, element)};
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

} // namespace sprig::ir
