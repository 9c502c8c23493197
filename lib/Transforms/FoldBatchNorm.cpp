#include "lib/Transforms/FoldBatchNorm.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNUnary.h"
#include "dialects/NN/ExpressionBuilder.h"

using namespace mlir;
using namespace sprig;
using ir::Expression;

static bool isKnownConstant(Value value) { return value && value.getDefiningOp<ir::ConstantOp>(); }

/// A constant that adds one number per channel to a tensor [N, C, ...], as [C]; null otherwise.
static Value perChannelBias(Expression &e, Value bias, RankedTensorType product) {
  if (!isKnownConstant(bias)) return {};
  ArrayRef<int64_t> shape = Expression::typeOf(bias).getShape();
  int64_t channels = product.getDimSize(1), fromEnd = product.getRank() - 1;
  for (auto [i, size] : llvm::enumerate(llvm::reverse(shape)))
    if (size != 1 && static_cast<int64_t>(i) + 1 != fromEnd) return {};
  if (Expression::typeOf(bias).getNumElements() == channels) return e.reshape(bias, {channels});
  if (Expression::typeOf(bias).getNumElements() != 1) return {};
  auto type = RankedTensorType::get({channels}, product.getElementType());
  return ir::BroadcastOp::create(e.b, e.loc, type, e.reshape(bias, {1}));
}

/// The weights times one factor per output channel. Null where the operation has no weights of constants.
static Value scaleWeights(Expression &e, Operation *product, Value factor) {
  auto scaled = [&](Value weights, ArrayRef<int64_t> factorShape) -> Value {
    // Weights of fewer bits than the sums would be rounded once more.
    bool isSameType = Expression::typeOf(weights).getElementType() == Expression::typeOf(factor).getElementType();
    if (!isKnownConstant(weights) || !isSameType) return {};
    return e.mul(weights, e.reshape(factor, factorShape));
  };
  int64_t channels = Expression::typeOf(factor).getNumElements();
  if (auto linear = dyn_cast<ir::LinearOp>(product)) return scaled(linear.getWeight(), {channels, 1});
  if (auto conv = dyn_cast<ir::ConvOp>(product)) {
    if (conv.getChannelsLast()) return {};
    SmallVector<int64_t> shape(conv.getFilter().getType().getRank(), 1);
    shape[0] = channels;
    return scaled(conv.getFilter(), shape);
  }
  if (auto matmul = dyn_cast<ir::MatmulOp>(product)) {
    // A channel of the norm is a column of the product only in rank 2.
    if (matmul.getType().getRank() != 2 || matmul.getRhs().getType().getRank() != 2) return {};
    if (matmul.getTransposeRhs()) return scaled(matmul.getRhs(), {channels, 1});
    return scaled(matmul.getRhs(), {channels});
  }
  if (auto conv = dyn_cast<ir::ConvTransposeOp>(product)) {
    if (!isKnownConstant(conv.getFilter())) return {};
    // [C, O / groups, window...]: the output channels of group g belong to the input channels of group g.
    auto type = conv.getFilter().getType();
    int64_t groups = conv.getGroups(), outputs = type.getDimSize(1);
    SmallVector<int64_t> split{groups, type.getDimSize(0) / groups, outputs}, factors{groups, 1, outputs};
    llvm::append_range(split, type.getShape().drop_front(2));
    factors.resize(split.size(), 1);
    return e.reshape(e.mul(e.reshape(conv.getFilter(), split), e.reshape(factor, factors)), type.getShape());
  }
  return {};
}

static Value weightsOf(Operation *product) {
  if (auto op = dyn_cast<ir::LinearOp>(product)) return op.getWeight();
  if (auto op = dyn_cast<ir::ConvOp>(product)) return op.getFilter();
  if (auto op = dyn_cast<ir::MatmulOp>(product)) return op.getRhs();
  if (auto op = dyn_cast<ir::ConvTransposeOp>(product)) return op.getFilter();
  return {};
}

bool sprig::foldBatchNorm(ir::BatchNormOp norm) {
  for (Value parameter : {norm.getScale(), norm.getShift(), norm.getMean(), norm.getVariance()})
    if (!isKnownConstant(parameter)) return false;
  OpBuilder builder(norm);
  Expression e(builder, norm.getLoc());
  auto type = norm.getType();
  Type element = type.getElementType();

  // Find the product and what is added to it.
  Value normed = norm.getOperand(), bias;
  Operation *product = normed.getDefiningOp();
  if (auto sum = normed.getDefiningOp<ir::AddOp>()) {
    if (!sum->hasOneUse()) return false;
    bool constantFirst = isKnownConstant(sum.getLhs());
    Value other = constantFirst ? sum.getLhs() : sum.getRhs();
    product = (constantFirst ? sum.getRhs() : sum.getLhs()).getDefiningOp();
    if (!product || product->getResult(0).getType() != type) return false;
    bias = perChannelBias(e, other, type);
    if (!bias) return false;
  }
  if (!product || !product->hasOneUse() || !isKnownConstant(weightsOf(product))) return false;
  if (auto linear = dyn_cast<ir::LinearOp>(product)) {
    if (type.getRank() != 2 || (linear.getBias() && !isKnownConstant(linear.getBias()))) return false;
    if (linear.getBias()) bias = bias ? e.add(e.widened(linear.getBias()), e.widened(bias)) : Value(linear.getBias());
  }

  // factor = scale / sqrt(variance + epsilon); new bias = (bias - mean) * factor + shift.
  Value variance = e.widened(norm.getVariance());
  Value epsilon = e.splat(variance, norm.getEpsilon().convertToDouble());
  Value factor = e.mul(e.widened(norm.getScale()), e.unary<ir::RsqrtOp>(e.add(variance, epsilon)));
  Value weights = scaleWeights(e, product, e.cast(factor, element));
  if (!weights) return false;
  Value mean = e.widened(norm.getMean());
  Value centred = bias ? e.sub(e.widened(bias), mean) : e.unary<ir::NegOp>(mean);
  Value shift = e.cast(e.add(e.mul(centred, factor), e.widened(norm.getShift())), element);

  builder.setInsertionPoint(norm);
  Operation *clone = builder.clone(*product);
  clone->replaceUsesOfWith(weightsOf(product), weights);
  if (auto linear = dyn_cast<ir::LinearOp>(clone)) linear.getBiasMutable().clear();
  SmallVector<int64_t> perChannel(type.getRank() - 1, 1);
  perChannel[0] = type.getDimSize(1);
  norm.replaceAllUsesWith(e.add(clone->getResult(0), e.reshape(shift, perChannel)));
  norm.erase();
  return true;
}
