#include "lib/Target/Kernels/ReductionSteps.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNUnary.h"

using namespace mlir;
using namespace sprig;

static Value splatLike(ElementBuilder &k, Value scalar, int64_t lanes) {
  return lanes > 1 ? k.splat(scalar, lanes) : scalar;
}

Value sprig::reductionIdentity(ElementBuilder &k, ir::ReduceKind kind, Type elementType, int64_t lanes) {
  Type type = computeType(elementType);
  if (kind == ir::ReduceKind::sum || kind == ir::ReduceKind::prod)
    return splatLike(k,
                     k.constant(type, kind == ir::ReduceKind::prod && !type.isInteger(1) ? 1
                                      : kind == ir::ReduceKind::prod                     ? -1
                                                                                         : 0),
                     lanes);
  bool isMax = kind == ir::ReduceKind::max;
  if (auto floating = dyn_cast<FloatType>(type)) {
    APFloat infinity = APFloat::getInf(floating.getFloatSemantics(), /*Negative=*/isMax);
    return splatLike(k, arith::ConstantOp::create(k.b, k.loc, type, k.b.getFloatAttr(type, infinity)), lanes);
  }
  unsigned width = type.getIntOrFloatBitWidth();
  bool isUnsigned = elementType.isUnsignedInteger() || width == 1;
  APInt bound = isMax ? (isUnsigned ? APInt::getMinValue(width) : APInt::getSignedMinValue(width))
                      : (isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width));
  return splatLike(k, arith::ConstantOp::create(k.b, k.loc, type, k.b.getIntegerAttr(type, bound)), lanes);
}

/// What is read of a reduction: its result, or that with a number as a bound from below (of a masked softmax).
static Value withBound(ir::ReduceOp reduce) {
  auto bound = reduce->hasOneUse() ? dyn_cast<ir::MaxOp>(*reduce->user_begin()) : ir::MaxOp();
  return bound && bound.getLhs() == reduce.getResult() && ir::splatOf(bound.getRhs()) ? bound.getResult()
                                                                                      : reduce.getResult();
}

/// Whether an exponential is read by its rows' sum, and else only times the reciprocal of that.
static bool isDividedBySum(ir::ExpOp exponential, ir::ReduceOp maximum) {
  ir::ReduceOp sum;
  for (Operation *user : exponential->getUsers())
    if (auto reduce = dyn_cast<ir::ReduceOp>(user)) sum = reduce;
  if (!sum || sum.getKind() != ir::ReduceKind::sum || sum.getAxes() != maximum.getAxes()) return false;
  return llvm::all_of(exponential->getUsers(), [&](Operation *user) {
    if (user == sum) return true;
    auto product = dyn_cast<ir::MulOp>(user);
    if (!product) return false;
    auto reciprocal = product.getRhs().getDefiningOp<ir::ReciprocalOp>();
    return reciprocal && reciprocal->getOperand(0) == withBound(sum);
  });
}

bool sprig::isSoftmaxShift(ir::ReduceOp reduce) {
  if (reduce.getKind() != ir::ReduceKind::max || reduce->use_empty()) return false;
  if (!isa<FloatType>(computeType(elementOf(reduce.getOperand())))) return false;
  Value maximum = withBound(reduce);
  return llvm::all_of(maximum.getUsers(), [&](Operation *user) {
    auto shifted = dyn_cast<ir::SubOp>(user);
    if (!shifted || shifted.getLhs() != reduce.getOperand() || shifted.getRhs() != maximum) return false;
    return llvm::all_of(shifted->getUsers(), [&](Operation *exponential) {
      auto exp = dyn_cast<ir::ExpOp>(exponential);
      return exp && isDividedBySum(exp, reduce);
    });
  });
}

Value sprig::reductionStep(ElementBuilder &k, ir::ReduceKind kind, Type elementType, Value accumulator, Value value,
                           bool isShift) {
  OpBuilder &b = k.b;
  if (isShift) {
    Value greater = arith::CmpFOp::create(b, k.loc, arith::CmpFPredicate::OGT, accumulator, value);
    return arith::SelectOp::create(b, k.loc, greater, accumulator, value);
  }
  if (isa<FloatType>(computeType(elementType))) {
    switch (kind) {
    case ir::ReduceKind::sum: return arith::AddFOp::create(b, k.loc, accumulator, value);
    case ir::ReduceKind::prod: return arith::MulFOp::create(b, k.loc, accumulator, value);
    case ir::ReduceKind::max: return arith::MaximumFOp::create(b, k.loc, accumulator, value);
    case ir::ReduceKind::min: return arith::MinimumFOp::create(b, k.loc, accumulator, value);
    }
  }
  bool isUnsigned = elementType.isUnsignedInteger() || elementType.isInteger(1);
  switch (kind) {
  case ir::ReduceKind::sum: return arith::AddIOp::create(b, k.loc, accumulator, value);
  case ir::ReduceKind::prod: return arith::MulIOp::create(b, k.loc, accumulator, value);
  case ir::ReduceKind::max:
    if (isUnsigned) return arith::MaxUIOp::create(b, k.loc, accumulator, value);
    return arith::MaxSIOp::create(b, k.loc, accumulator, value);
  case ir::ReduceKind::min:
    if (isUnsigned) return arith::MinUIOp::create(b, k.loc, accumulator, value);
    return arith::MinSIOp::create(b, k.loc, accumulator, value);
  }
  llvm_unreachable("all kinds of reductions are above");
}

Value sprig::reductionTree(ElementBuilder &k, ir::ReduceKind kind, Type elementType, Value partials) {
  auto lanes = cast<VectorType>(partials.getType()).getDimSize(0);
  for (int64_t distance = lanes / 2; distance >= 1; distance /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < distance; ++i) {
      low.push_back(i);
      high.push_back(i + distance);
    }
    Value a = vector::ShuffleOp::create(k.b, k.loc, partials, partials, low);
    Value b = vector::ShuffleOp::create(k.b, k.loc, partials, partials, high);
    partials = reductionStep(k, kind, elementType, a, b);
  }
  return vector::ExtractOp::create(k.b, k.loc, partials, 0);
}

Value sprig::reductionTrees(ElementBuilder &k, ir::ReduceKind kind, Type elementType, SmallVector<Value> partials,
                            bool isShift) {
  // Each step halves what is left of every row and puts two vectors' rows into one.
  for (int64_t width = kLanes; width > 1; width /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t first = 0; first < 2 * kLanes; first += width)
      for (int64_t i = 0; i < width / 2; ++i) {
        low.push_back(first + i);
        high.push_back(first + width / 2 + i);
      }
    SmallVector<Value> next;
    for (size_t i = 0; i < partials.size(); i += 2) {
      Value a = vector::ShuffleOp::create(k.b, k.loc, partials[i], partials[i + 1], low);
      Value b = vector::ShuffleOp::create(k.b, k.loc, partials[i], partials[i + 1], high);
      next.push_back(reductionStep(k, kind, elementType, a, b, isShift));
    }
    partials = std::move(next);
  }
  return partials.front();
}
