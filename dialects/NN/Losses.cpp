// Losses: decompositions, and the gradients that are shorter than those of the decomposition.
#include "dialects/NN/GradientMarks.h"
#include "dialects/NN/VjpExpression.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNLoss.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNUnary.h"

using namespace mlir;

namespace sprig::ir {

/// Losses of elements as the reduction says; a mean divides by `count`, or by their number when it is null.
static Value reduced(Expression &e, Value losses, LossReduction reduction, Value count, Type element) {
  if (reduction == LossReduction::mean && !count)
    losses = LossMeanOp::create(e.b, e.loc, losses, Expression::typeOf(losses).getRank());
  else if (reduction != LossReduction::none)
    losses = e.sumOfAll(losses);
  if (reduction == LossReduction::mean && count) losses = e.div(losses, count);
  return e.cast(losses, element);
}

/// Positions of the first dimensions.
static int64_t positionsOf(Value value, int64_t dims) {
  return llvm::product_of(Expression::typeOf(value).getShape().take_front(size_t(dims)), int64_t(1));
}

Values LossMeanOp::decompose(OpBuilder &b) {
  Expression e(b, getLoc());
  Value sum = e.sumOfAll(getOperand());
  return one(e.div(sum, e.splat(sum, double(positionsOf(getOperand(), int64_t(getDims()))))));
}

LogicalResult LossMeanOp::buildVjp(VjpExpression &e) {
  if (!e.needs(0)) return success();
  ArrayRef<int64_t> shape = getOperand().getType().getShape();
  Value each = LossMeanGradOp::create(e.b, e.loc, e.g(), getOperand(), getDims());
  e.give(0, e.broadcast(e.reshape(each, SmallVector<int64_t>(shape.size(), 1)), shape));
  return success();
}

// A rank without a position has no use for its cotangent, which has to be a number all the same.
Values LossMeanGradOp::decompose(OpBuilder &b) {
  Expression e(b, getLoc());
  int64_t count = positionsOf(getLike(), int64_t(getDims()));
  if (!count) return one(getCotangent());
  return one(e.div(getCotangent(), e.splat(getCotangent(), double(count))));
}

LogicalResult LossMeanGradOp::buildVjp(VjpExpression &e) {
  if (e.needs(0)) e.give(0, LossMeanGradOp::create(e.b, e.loc, e.cotangent(), getLike(), getDims()));
  return success();
}

Values LossScaleOp::decompose(OpBuilder &b) { return one(MulOp::create(b, getLoc(), getOperand(), getRounded())); }

LogicalResult LossScaleOp::buildVjp(VjpExpression &e) {
  if (e.needs(0)) e.give(0, LossScaleOp::create(e.b, e.loc, e.cotangent(), getRounded(), getFactorAttr()));
  return success();
}

namespace {
/// What the losses against classes share: rows of C classes, with a mask of the target's class. Indices of classes are
/// compared as i32, of which vectors hold as many as of floats.
struct Classes {
  template <typename OpT> Classes(Expression &e, OpT op, Value x) : e(e), axis(Expression::typeOf(x).getRank() - 1) {
    auto type = Expression::typeOf(x);
    llvm::append_range(column, type.getShape());
    size = column.back();
    column.back() = 1;
    Value targets = op.getTargets();
    if (auto ignored = op.getIgnoreIndexAttr()) {
      auto index = e.splat(targets, double(ignored.getInt()));
      Value isCounted = e.compare(ComparePredicate::ne, targets, index);
      targets = e.select(isCounted, targets, e.splat(targets, 0));
      counted = e.reshape(isCounted, column);
    }
    targets = ClassIndexOp::create(e.b, e.loc, targets, size);
    Type small = e.b.getI32Type();
    Value classes = IotaOp::create(e.b, e.loc, RankedTensorType::get(type.getShape(), small), axis);
    isTarget = e.compare(ComparePredicate::eq, classes, e.reshape(e.cast(targets, small), column));
    if (op.getWeights()) {
      weights = e.widened(op.getWeights());
      targetWeight = picked(weights);
    }
    // Rows that do not count have the weight zero.
    Value one = targetWeight ? targetWeight : e.splat(x, 1);
    rowWeight = counted ? e.select(counted, one, e.splat(x, 0)) : targetWeight;
  }
  /// The target's element of each row, [..., 1].
  Value picked(Value rows) { return e.reduce(ReduceKind::sum, e.select(isTarget, rows, e.splat(rows, 0)), axis, true); }
  /// What a mean divides by; null: the number of rows.
  Value count() { return rowWeight ? e.sumOfRanks(rowWeight, Expression::allAxes(rowWeight), kCountSum) : Value(); }
  Value onlyCounted(Value rows) { return counted ? e.select(counted, rows, e.splat(rows, 0)) : rows; }
  /// Without the dimension of size 1.
  Value asRows(Value values) { return e.reshape(values, ArrayRef(column).drop_back()); }

  /// The factor of each row's gradient, [..., 1] or a scalar: the cotangent, over the mean's count.
  Value factor(LossReduction reduction, Value g, Value x) {
    if (reduction == LossReduction::none) return e.reshape(g, column);
    if (reduction == LossReduction::sum) return g;
    if (Value number = count()) return e.div(g, number);
    return LossMeanGradOp::create(e.b, e.loc, g, x, axis);
  }

  Expression &e;
  int64_t axis, size;
  SmallVector<int64_t> column; // [..., 1]
  Value isTarget;              // [..., C]
  Value counted;               // [..., 1] of i1; null: all
  Value weights;               // [C]; null: ones
  Value targetWeight;          // [..., 1]; null: ones
  Value rowWeight;             // [..., 1], what a row counts in a mean; null: ones
};
} // namespace

/// The logarithm of a softmax as a difference: elements minus the largest, and the logarithm of the sum of their
/// exponentials. The largest counts 1, exactly; only the others' sum is rounded. So the loss of a sure and right
/// prediction is as exact as one of a wrong one.
static std::pair<Value, Value> logSoftmaxParts(Expression &e, Value x, int64_t axis) {
  Value shifted = e.sub(x, e.reduce(ReduceKind::max, x, axis, true));
  Value exponentials = e.unary<ExpOp>(shifted), zero = e.splat(x, 0), one = e.splat(x, 1);
  Value isLargest = e.compare(ComparePredicate::eq, shifted, zero);
  Value others = e.reduce(ReduceKind::sum, e.select(isLargest, zero, exponentials), axis, true);
  Value equals = e.reduce(ReduceKind::sum, e.select(isLargest, one, zero), axis, true);
  return {shifted, e.unary<Log1pOp>(e.add(others, e.sub(equals, one)))};
}

Values CrossEntropyOp::decompose(OpBuilder &b) {
  Expression e(b, getLoc());
  Value x = e.widened(getOperand());
  Classes classes(e, *this, x);
  auto [shifted, logSum] = logSoftmaxParts(e, x, classes.axis);
  Value loss = e.sub(classes.picked(shifted), logSum);
  if (classes.targetWeight) loss = e.mul(loss, classes.targetWeight);
  double smoothing = getLabelSmoothing().convertToDouble();
  if (smoothing > 0) {
    Value logs = e.sub(shifted, logSum);
    Value all = e.reduce(ReduceKind::sum, classes.weights ? e.mul(logs, classes.weights) : logs, classes.axis, true);
    loss = e.add(e.mul(loss, e.splat(loss, 1 - smoothing)), e.mul(all, e.splat(all, smoothing / classes.size)));
  }
  loss = classes.asRows(classes.onlyCounted(e.unary<NegOp>(loss)));
  return SmallVector<Value>{reduced(e, loss, getReduction(), classes.count(), getOperand().getType().getElementType())};
}

/// The gradient by the weights of classes, which few ask for: that of the decomposition.
template <typename OpT> static LogicalResult differentiateByWeights(OpT op, VjpExpression &e) {
  return op.getWeights() && e.needs(2) ? e.giveByDecomposition(op, 2) : success();
}

// Of row r: factor[r] * (softmax * sum(q) - q), q being the classes' shares of the target times their weights.
LogicalResult CrossEntropyOp::buildVjp(VjpExpression &e) {
  if (failed(differentiateByWeights(*this, e))) return failure();
  if (!e.needs(0)) return success();
  Value x = e.widened(getOperand()), g = e.widened(e.g());
  Classes classes(e, *this, x);
  double smoothing = getLabelSmoothing().convertToDouble(), rest = smoothing / classes.size;
  Value probabilities = SoftmaxOp::create(e.b, e.loc, x, classes.axis);
  Value shares = e.select(classes.isTarget, e.splat(x, 1 - smoothing + rest), e.splat(x, rest));
  if (classes.weights) {
    shares = e.mul(shares, classes.weights);
    Value sum = e.reduce(ReduceKind::sum, shares, classes.axis, true);
    probabilities = e.mul(probabilities, sum);
  }
  Value factor = classes.onlyCounted(classes.factor(getReduction(), g, x));
  e.give(0, e.cast(e.mul(e.sub(probabilities, shares), factor), getOperand().getType().getElementType()));
  return success();
}

Values NllLossOp::decompose(OpBuilder &b) {
  Expression e(b, getLoc());
  Value x = e.widened(getOperand());
  Classes classes(e, *this, x);
  Value loss = classes.picked(x);
  if (classes.targetWeight) loss = e.mul(loss, classes.targetWeight);
  loss = classes.asRows(classes.onlyCounted(e.unary<NegOp>(loss)));
  return SmallVector<Value>{reduced(e, loss, getReduction(), classes.count(), getOperand().getType().getElementType())};
}

LogicalResult NllLossOp::buildVjp(VjpExpression &e) {
  if (failed(differentiateByWeights(*this, e))) return failure();
  if (!e.needs(0)) return success();
  Value x = e.widened(getOperand()), g = e.widened(e.g());
  Classes classes(e, *this, x);
  Value factor = classes.onlyCounted(classes.factor(getReduction(), g, x));
  Value weighted = e.negate(classes.targetWeight ? e.mul(factor, classes.targetWeight) : factor);
  Value gradient = e.select(classes.isTarget, e.broadcast(weighted, classes.column), e.splat(x, 0));
  e.give(0, e.cast(gradient, getOperand().getType().getElementType()));
  return success();
}

/// A loss of elements, computed in f32 where the operand is of a half type.
template <typename OpT>
static Values elementLoss(OpT op, OpBuilder &b, llvm::function_ref<Value(MarkedExpression &, Value, Value)> loss) {
  MarkedExpression e(b, op);
  Value losses = loss(e, e.widened(op.getOperand()), e.widened(op.getTargets()));
  return SmallVector<Value>{reduced(e, losses, op.getReduction(), Value(), op.getOperand().getType().getElementType())};
}

Values MseLossOp::decompose(OpBuilder &b) {
  return elementLoss(*this, b, [](Expression &e, Value x, Value t) {
    Value difference = e.sub(x, t);
    return e.mul(difference, difference);
  });
}

Values L1LossOp::decompose(OpBuilder &b) {
  return elementLoss(*this, b, [](Expression &e, Value x, Value t) { return e.unary<AbsOp>(e.sub(x, t)); });
}

// d^2 / 2 where |d| is below delta, else delta * (|d| - delta / 2). The square's gradient is of d, which has a second
// derivative at 0; that of an infinite distance is not taken.
Values HuberLossOp::decompose(OpBuilder &b) {
  return elementLoss(*this, b, [&](MarkedExpression &e, Value x, Value t) {
    double delta = getDelta().convertToDouble();
    Value difference = e.sub(x, t), distance = e.unary<AbsOp>(difference);
    Value isFar = e.compare(ComparePredicate::ge, distance, e.splat(x, delta));
    Value near = e.cut(isFar, difference);
    Value square = e.mul(e.mul(near, near), e.splat(x, 0.5));
    Value line = e.mul(e.sub(distance, e.splat(x, delta / 2)), e.splat(x, delta));
    return e.select(isFar, line, square);
  });
}

/// Cut at -100, so that a wrong certainty costs much but not infinity.
static Value cutLog(Expression &e, Value p) { return e.binary<MaxOp>(e.unary<LogOp>(p), e.splat(p, -100)); }

Values BceLossOp::decompose(OpBuilder &b) {
  return elementLoss(*this, b, [](Expression &e, Value probabilities, Value t) {
    Value x = InRangeOp::create(e.b, e.loc, probabilities, APFloat(0.0), APFloat(1.0));
    Value one = e.splat(x, 1);
    return e.unary<NegOp>(e.add(e.mul(t, cutLog(e, x)), e.mul(e.sub(one, t), cutLog(e, e.sub(one, x)))));
  });
}

/// The cotangent of each element's loss.
static Value elementCotangent(VjpExpression &e, LossReduction reduction, Value x) {
  Value g = e.widened(e.g());
  if (reduction != LossReduction::mean) return g;
  return LossMeanGradOp::create(e.b, e.loc, g, x, VjpExpression::typeOf(x).getRank());
}

LogicalResult BceLossOp::buildVjp(VjpExpression &e) {
  Value x = e.widened(getOperand()), t = e.widened(getTargets());
  Type element = getOperand().getType().getElementType();
  Value g = elementCotangent(e, getReduction(), x), one = e.splat(x, 1);
  e.give(0, getOperand(), [&] {
    Value scale = e.binary<MaxOp>(e.mul(x, e.sub(one, x)), e.splat(x, 1e-12));
    return e.cast(e.div(e.mul(g, e.sub(x, t)), scale), element);
  });
  e.give(1, getTargets(), [&] { return e.cast(e.mul(g, e.sub(cutLog(e, e.sub(one, x)), cutLog(e, x))), element); });
  return success();
}

Values BceWithLogitsLossOp::decompose(OpBuilder &b) {
  return elementLoss(*this, b, [&](MarkedExpression &e, Value x, Value t) {
    // log(1 + exp(x)) = max(x, 0) + tail, log(1 + exp(-x)) = max(-x, 0) + tail: at 0 the tail alone has a derivative.
    auto weight = getPositiveWeightAttr();
    Value tail = e.unary<Log1pOp>(e.unary<ExpOp>(e.negatedMagnitude(x, weight ? -1 : 1)));
    if (weight) {
      Value softplus = e.add(e.unary<ReluOp>(e.unary<NegOp>(x)), tail);
      Value share = e.add(e.mul(t, e.splat(x, weight.getValueAsDouble() - 1)), e.splat(x, 1));
      return e.add(e.mul(e.sub(e.splat(x, 1), t), x), e.mul(share, softplus));
    }
    return e.add(e.sub(e.unary<ReluOp>(x), e.mul(x, t)), tail);
  });
}

Values KlDivLossOp::decompose(OpBuilder &b) {
  return elementLoss(*this, b, [&](Expression &e, Value x, Value t) {
    if (getLogTarget()) return e.mul(e.unary<ExpOp>(t), e.sub(t, x));
    Value isPositive = e.compare(ComparePredicate::gt, t, e.splat(t, 0));
    Value logarithm = e.unary<LogOp>(e.select(isPositive, t, e.splat(t, 1)));
    return e.mul(t, e.sub(logarithm, x));
  });
}

} // namespace sprig::ir
