// Vector-Jacobian products of reductions, running sums, sorts and pools.
#include "dialects/NN/VjpExpression.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNShapeOps.h"
#include <limits>

using namespace mlir;

namespace sprig::ir {

/// The product of all other elements of each row, as a product of what is before and what is behind: no division.
static Value productOfOthers(VjpExpression &e, Value x, ArrayRef<int64_t> axes) {
  auto type = VjpExpression::typeOf(x);
  SmallVector<int64_t> order, back(type.getRank()), rest;
  int64_t rows = 1, size = 1;
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (!llvm::is_contained(axes, d)) order.push_back(d), rows *= type.getDimSize(d);
  for (int64_t axis : axes) order.push_back(axis), size *= type.getDimSize(axis);
  for (auto [i, d] : llvm::enumerate(order)) back[d] = i;
  Value turned = e.transpose(x, order);
  Value flat = e.reshape(turned, {rows, size});
  auto running = [&](bool reverse) {
    return CumulativeOp::create(e.b, e.loc, ReduceKind::prod, flat, 1, /*exclusive=*/true, reverse).getResult();
  };
  Value others = e.mul(running(false), running(true));
  return e.transpose(e.reshape(others, VjpExpression::typeOf(turned).getShape()), back);
}

LogicalResult ReduceOp::buildVjp(VjpExpression &e) {
  if (!e.needs(0)) return success();
  Value x = getOperand();
  auto type = VjpExpression::typeOf(x);
  SmallVector<int64_t> kept(type.getShape());
  for (int64_t axis : getAxes()) kept[axis] = 1;
  Value g = e.reshape(e.g(), kept);
  switch (getKind()) {
  case ReduceKind::sum: e.give(0, e.broadcast(g, type.getShape())); break;
  case ReduceKind::prod: e.give(0, e.mul(g, productOfOthers(e, x, getAxes()))); break;
  case ReduceKind::max:
  case ReduceKind::min: { // equal elements share
    Value isExtreme = e.compare(ComparePredicate::eq, x, e.reshape(getResult(), kept));
    Value share = e.cast(isExtreme, type.getElementType());
    e.give(0, e.mul(share, e.div(g, e.reduce(ReduceKind::sum, share, getAxes(), true))));
  }
  }
  return success();
}

// A product's derivative is taken by division. That by a row's first zero is a sum of the products without it, from
// there on, where those with it are zeros; that by a later zero is zero.
LogicalResult CumulativeOp::buildVjp(VjpExpression &e) {
  if (!e.needs(0)) return success();
  int64_t axis = getAxis();
  auto backwards = [&](Value v) {
    return CumulativeOp::create(e.b, e.loc, ReduceKind::sum, v, axis, getExclusive(), !getReverse()).getResult();
  };
  if (getKind() == ReduceKind::sum || getType().getNumElements() == 0) {
    e.give(0, backwards(e.g()));
    return success();
  }
  Value x = getOperand(), y = getResult(), zero = e.splat(x, 0), one = e.splat(x, 1);
  SmallVector<int64_t> shape(size_t(getType().getRank()), 1);
  int64_t size = shape[size_t(axis)] = getType().getDimSize(axis);
  Type index = e.b.getIntegerType(size > std::numeric_limits<int32_t>::max() ? 64 : 32);
  Value place = IotaOp::create(e.b, e.loc, RankedTensorType::get(shape, index), axis);
  Value isZero = e.compare(ComparePredicate::eq, x, zero);
  Value first = e.reduce(getReverse() ? ReduceKind::max : ReduceKind::min,
                         e.select(isZero, place, e.splat(place, getReverse() ? -1 : double(size))), axis, true);
  Value isFirst = e.compare(ComparePredicate::eq, place, first);
  Value without =
      CumulativeOp::create(e.b, e.loc, ReduceKind::prod, e.select(isFirst, one, x), axis, getExclusive(), getReverse());
  Value behind = e.select(e.compare(ComparePredicate::eq, y, zero), e.mul(e.g(), without), zero);
  Value ofZero = e.select(isFirst, e.reduce(ReduceKind::sum, behind, axis, true), zero);
  Value ofOthers = e.div(backwards(e.mul(e.g(), y)), e.select(isZero, one, x));
  e.give(0, e.select(isZero, ofZero, ofOthers));
  return success();
}

LogicalResult TopKOp::buildVjp(VjpExpression &e) {
  if (!e.needs(0)) return success();
  e.give(0, ScatterElementsOp::create(e.b, e.loc, ScatterKind::add, e.zeros(getOperand().getType()), getIndices(),
                                      e.g(), getAxis()));
  return success();
}

LogicalResult PoolOp::buildVjp(VjpExpression &e) {
  if (!e.needs(0)) return success();
  // Sums need the operand's shape alone.
  Value operand = getKind() == ReduceKind::max ? getOperand() : e.zeros(getOperand().getType());
  e.give(0, PoolGradOp::create(e.b, e.loc, getKind(), operand, e.g(), getWindow(), getStrides(), getDilations(),
                               getPadding(), getChannelsLast()));
  return success();
}

// Linear in the cotangent; which element is the maximum does not change with the operand.
LogicalResult PoolGradOp::buildVjp(VjpExpression &e) {
  if (!e.needs(1)) return success();
  if (getKind() == ReduceKind::sum) {
    e.give(1, PoolOp::create(e.b, e.loc, ReduceKind::sum, e.g(), getWindow(), getStrides(), getDilations(),
                             getPadding(), getChannelsLast()));
    return success();
  }
  if (getChannelsLast()) return emitOpError("has no gradient of kind max with channels last");
  Value where = ArgMaxPoolOp::create(e.b, e.loc, getOperand(), getWindow(), getStrides(), getDilations(), getPadding(),
                                     /*column_major=*/false);
  Value flat = e.reshape(e.g(), VjpExpression::typeOf(e.g()).getNumElements());
  e.give(1, GatherOp::create(e.b, e.loc, flat, where, 0));
  return success();
}

} // namespace sprig::ir
