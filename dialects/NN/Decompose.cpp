// Decompositions of composites into primitives: activations, means, products, pools. Normalisations: Norms.cpp.
#include "dialects/NN/GradientMarks.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNUnary.h"
#include "llvm/ADT/Sequence.h"
#include <cmath>

using namespace mlir;

namespace sprig::ir {

// Activations: computed in f32 where the operand is of a half type, and rounded once.
template <typename OpT>
static Values activation(OpT op, OpBuilder &b, llvm::function_ref<Value(MarkedExpression &, Value)> body) {
  MarkedExpression e(b, op);
  return one(e.cast(body(e, e.widened(op.getOperand())), op.getType().getElementType()));
}

Values SiluOp::decompose(OpBuilder &b) {
  return activation(*this, b, [](Expression &e, Value x) { return e.mul(x, e.unary<SigmoidOp>(x)); });
}

/// log(1 + exp(x)) = max(x, 0) + log1p(exp(-|x|)). At 0 the first term has the derivative 0.
static Value softplus(MarkedExpression &e, Value x) {
  Value tail = e.unary<Log1pOp>(e.unary<ExpOp>(e.negatedMagnitude(x, 1)));
  return e.add(e.unary<ReluOp>(x), tail);
}

Values SoftplusOp::decompose(OpBuilder &b) { return activation(*this, b, softplus); }

Values MishOp::decompose(OpBuilder &b) {
  return activation(*this, b, [](MarkedExpression &e, Value x) { return e.mul(x, e.unary<TanhOp>(softplus(e, x))); });
}

Values SoftsignOp::decompose(OpBuilder &b) {
  return activation(*this, b, [](Expression &e, Value x) { return e.div(x, e.add(e.unary<AbsOp>(x), e.splat(x, 1))); });
}

/// max(0, min(1, alpha * x + beta)); NaN stays NaN. The derivative is 0 at both ends of the slope.
static Value hardSigmoid(Expression &e, Value x, double alpha, double beta) {
  Value line = e.add(e.mul(x, e.splat(x, alpha)), e.splat(x, beta));
  auto below = MinOp::create(e.b, e.loc, line, e.splat(x, 1));
  below.setBound(true);
  return e.unary<ReluOp>(below);
}

Values HardSigmoidOp::decompose(OpBuilder &b) {
  return activation(*this, b, [&](Expression &e, Value x) {
    return hardSigmoid(e, x, getAlpha().convertToDouble(), getBeta().convertToDouble());
  });
}

Values HardSwishOp::decompose(OpBuilder &b) {
  return activation(*this, b, [](Expression &e, Value x) { return e.mul(x, hardSigmoid(e, x, 1.0 / 6, 0.5)); });
}

Values GeluOp::decompose(OpBuilder &b) {
  return activation(*this, b, [&](MarkedExpression &e, Value x) {
    Value inner;
    if (getTanhApproximation()) { // tanh(sqrt(2 / pi) * (x + 0.044715 x^3))
      // From 100 on it is 1 or -1, and its derivative 0, which must not meet a square that overflows.
      Value square = e.mul(x, x);
      Value cube = e.mul(square, e.cut(e.compare(ComparePredicate::gt, square, e.splat(x, 1e4)), x));
      Value sum = e.add(x, e.mul(cube, e.splat(x, 0.044715)));
      inner = e.unary<TanhOp>(e.mul(sum, e.splat(x, std::sqrt(2 / M_PI))));
    } else {
      inner = e.unary<ErfOp>(e.mul(x, e.splat(x, M_SQRT1_2)));
    }
    return e.mul(e.mul(x, e.splat(x, 0.5)), e.add(inner, e.splat(x, 1)));
  });
}

/// x times a factor where x > 0, else the curve, which NaN takes and goes through. The curve's exponential overflows on
/// the other side, so no gradient comes to it from there.
static Value wherePositive(MarkedExpression &e, Value x, double factor, llvm::function_ref<Value(Value)> curve) {
  Value isPositive = e.compare(ComparePredicate::gt, x, e.splat(x, 0));
  Value negative = curve(e.cut(isPositive, x));
  return e.select(isPositive, factor == 1 ? x : e.mul(x, e.splat(x, factor)), negative);
}

Values EluOp::decompose(OpBuilder &b) {
  return activation(*this, b, [&](MarkedExpression &e, Value x) {
    Value alpha = e.splat(x, getAlpha().convertToDouble());
    return wherePositive(e, x, 1, [&](Value v) { return e.mul(e.exponentialBelow(v), alpha); });
  });
}

// x where positive, else alpha * (exp(x / alpha) - 1), which is max(0, x) + min(0, that).
Values CeluOp::decompose(OpBuilder &b) {
  return activation(*this, b, [&](MarkedExpression &e, Value x) {
    Value alpha = e.splat(x, getAlpha().convertToDouble());
    return wherePositive(e, x, 1, [&](Value v) { return e.mul(e.exponentialBelow(e.div(v, alpha)), alpha); });
  });
}

Values SeluOp::decompose(OpBuilder &b) {
  return activation(*this, b, [&](MarkedExpression &e, Value x) {
    double alpha = getAlpha().convertToDouble(), gamma = getGamma().convertToDouble();
    return wherePositive(e, x, gamma, [&](Value v) { return e.mul(e.exponentialBelow(v), e.splat(x, alpha * gamma)); });
  });
}

Values LeakyReluOp::decompose(OpBuilder &b) {
  return activation(*this, b, [&](Expression &e, Value x) {
    Value negative = e.mul(x, e.splat(x, getAlpha().convertToDouble()));
    return e.select(e.compare(ComparePredicate::gt, x, e.splat(x, 0)), x, negative);
  });
}

// A mean of integers truncates; of half types it is taken in f32.
Values ReduceMeanOp::decompose(OpBuilder &b) {
  Expression e(b, getLoc());
  auto type = getOperand().getType();
  Value x = e.widened(getOperand());
  auto sizes = llvm::map_range(getAxes(), [&](int64_t axis) { return type.getDimSize(axis); });
  int64_t count = llvm::product_of(sizes, int64_t(1));
  Value sum = e.reduce(ReduceKind::sum, x, getAxes(), getKeepDims());
  if (count == 0 && !isa<FloatType>(type.getElementType())) return one(sum); // there is no mean of no integers
  return one(e.cast(e.div(sum, e.splat(sum, count)), type.getElementType()));
}

Values LinearOp::decompose(OpBuilder &b) {
  Expression e(b, getLoc());
  Value x = getOperand();
  auto type = getOperand().getType();
  if (type.getRank() == 1) x = e.reshape(x, {1, type.getDimSize(0)});
  Value product = e.matmul(x, getWeight(), /*transposeRhs=*/true);
  if (getBias()) product = e.add(product, getBias());
  return one(e.reshape(product, getType().getShape()));
}

namespace {
/// How many elements the windows of one dimension hold that are not in uncounted padding.
struct WindowCount {
  int64_t size, window, stride, dilation, low, countedLow, countedHigh, outputs;

  int64_t first(int64_t output) const { return output * stride - low; }
  /// Taps of a window in front of a position.
  int64_t tapsBefore(int64_t output, int64_t position) const {
    int64_t distance = position - first(output);
    return distance <= 0 ? 0 : std::min((distance + dilation - 1) / dilation, window);
  }
  int64_t at(int64_t output) const { return tapsBefore(output, size + countedHigh) - tapsBefore(output, -countedLow); }
  /// Whether every window is within what counts.
  bool allFull() const {
    return first(0) >= -countedLow && first(outputs - 1) + (window - 1) * dilation < size + countedHigh;
  }

  /// The same in operations, as a tensor of `outputs` elements: where there are too many for a constant.
  Value emit(Expression &e) const {
    auto type = RankedTensorType::get({outputs}, e.b.getI64Type());
    Value output = IotaOp::create(e.b, e.loc, type, e.b.getI64IntegerAttr(0));
    auto number = [&](int64_t value) { return e.splat(output, double(value)); };
    Value start = e.sub(e.mul(output, number(stride)), number(low));
    auto before = [&](int64_t position) {
      Value distance = e.sub(number(position + dilation - 1), start); // division truncates: negative ones end at 0
      Value taps = e.binary<MaxOp>(e.div(distance, number(dilation)), number(0));
      return e.binary<MinOp>(taps, number(window));
    };
    return e.sub(before(size + countedHigh), before(-countedLow));
  }
};

/// Above this many positions the counts are computed where they are used, rather than being a constant of that size.
constexpr int64_t kMostCounts = 1 << 20;
} // namespace

Values AvgPoolOp::decompose(OpBuilder &b) {
  Expression e(b, getLoc());
  auto type = getOperand().getType(), result = getType();
  int64_t spatial = type.getRank() - 2;
  Value x = e.widened(getOperand());
  auto sum = createChecked<PoolOp>(
      b, getLoc(), x,
      {b.getNamedAttr("kind", ReduceKindAttr::get(b.getContext(), ReduceKind::sum)),
       b.getNamedAttr("window", getWindowAttr()), b.getNamedAttr("strides", getStridesAttr()),
       b.getNamedAttr("dilations", getDilationsAttr()), b.getNamedAttr("padding", getPaddingAttr())});
  if (failed(sum)) return failure();
  // The counts are a product of one factor per dimension; where all windows are full they are one number.
  Type element = cast<RankedTensorType>(x.getType()).getElementType();
  SmallVector<WindowCount> dimensions;
  int64_t positions = 1;
  for (int64_t i = 0; i < spatial; ++i) {
    dimensions.push_back({type.getDimSize(2 + i), getWindow()[i], getStrides()[i], getDilations()[i], getPadding()[i],
                          getCountedPadding()[i], getCountedPadding()[spatial + i], result.getDimSize(2 + i)});
    if (dimensions.back().outputs && !dimensions.back().allFull()) positions *= dimensions.back().outputs;
  }
  if (positions > kMostCounts) {
    Value count;
    for (auto [i, dimension] : llvm::enumerate(dimensions)) {
      SmallVector<int64_t> shape(2 + spatial, 1);
      Value factor = e.constant(shape, element, {double(dimension.window)});
      if (!dimension.allFull()) {
        shape[2 + i] = dimension.outputs;
        factor = e.reshape(e.cast(dimension.emit(e), element), shape);
      }
      count = count ? e.mul(count, factor) : factor;
    }
    return one(e.cast(e.div(*sum, count), type.getElementType()));
  }
  SmallVector<int64_t> shape{1, 1};
  std::vector<double> counts{1};
  for (const WindowCount &dimension : dimensions) {
    SmallVector<int64_t> factors;
    if (dimension.outputs && dimension.allFull())
      factors = {dimension.window};
    else
      for (int64_t output = 0; output < dimension.outputs; ++output) factors.push_back(dimension.at(output));
    bool same = llvm::all_equal(factors);
    shape.push_back(same ? 1 : dimension.outputs);
    std::vector<double> next;
    for (double count : counts)
      for (int64_t factor : same ? ArrayRef<int64_t>(factors).take_front(1) : ArrayRef<int64_t>(factors))
        next.push_back(count * double(factor));
    counts = std::move(next);
  }
  Value mean = e.div(*sum, e.constant(shape, element, counts));
  return one(e.cast(mean, type.getElementType()));
}

} // namespace sprig::ir
