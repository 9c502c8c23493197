// Vector-Jacobian products of what ranks do together. Gradients are those of the sum of all ranks' outputs, so each
// collective's is the one that goes the other way.
#include "dialects/Dist/Dist.h"
#include "dialects/NN/VjpExpression.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::ir::dist;

static LogicalResult requireLinear(Operation *op, Reduction reduction) {
  if (reduction == Reduction::sum || reduction == Reduction::mean) return success();
  return op->emitOpError("has no gradient: it is a ") << stringifyReduction(reduction) << ", expected a sum or a mean";
}

static ReductionAttr sumOf(VjpBuilder &vjp) { return ReductionAttr::get(vjp.b.getContext(), Reduction::sum); }

/// The cotangents of the results whose operands need one.
static SmallVector<Value> neededCotangents(VjpBuilder &vjp, unsigned count) {
  SmallVector<Value> cotangents;
  for (unsigned i = 0; i < count; ++i)
    if (vjp.needs(i)) cotangents.push_back(vjp.cotangent(i));
  return cotangents;
}

static SmallVector<Type> neededTypes(VjpBuilder &vjp, ValueRange operands) {
  SmallVector<Type> types;
  for (auto [i, operand] : llvm::enumerate(operands))
    if (vjp.needs(unsigned(i))) types.push_back(operand.getType());
  return types;
}

static void giveNeeded(VjpBuilder &vjp, unsigned count, ValueRange gradients) {
  for (unsigned i = 0, next = 0; i < count; ++i)
    if (vjp.needs(i)) vjp.give(i, gradients[next++]);
}

/// Of a mean each rank's value is one of as many as the group has.
static void divideByRanks(VjpBuilder &vjp, Operation *op, MutableArrayRef<Value> cotangents) {
  CollectiveUse use = *collectiveUse(op);
  auto ranks = double(SymbolTable::lookupNearestSymbolFrom<MeshOp>(op, use.mesh).groupOf(0, use.axes).size());
  ir::VjpExpression e(vjp);
  for (Value &cotangent : cotangents) cotangent = e.div(cotangent, e.splat(cotangent, ranks));
}

LogicalResult AllReduceOp::buildVjp(VjpBuilder &vjp) {
  if (failed(requireLinear(*this, getReduction()))) return failure();
  auto sums = AllReduceOp::create(vjp.b, vjp.loc, neededCotangents(vjp, getNumOperands()), getReductionAttr(),
                                  getMeshAttr(), getAxesAttr(), getAlgorithmAttr());
  giveNeeded(vjp, getNumOperands(), sums.getResults());
  return success();
}

LogicalResult ReduceScatterOp::buildVjp(VjpBuilder &vjp) {
  if (failed(requireLinear(*this, getReduction()))) return failure();
  SmallVector<Value> cotangents = neededCotangents(vjp, getNumOperands());
  if (getReduction() == Reduction::mean) divideByRanks(vjp, *this, cotangents);
  auto wholes = AllGatherOp::create(vjp.b, vjp.loc, neededTypes(vjp, getOperands()), cotangents, getMeshAttr(),
                                    getAxesAttr(), getAlgorithmAttr());
  giveNeeded(vjp, getNumOperands(), wholes.getResults());
  return success();
}

LogicalResult AllGatherOp::buildVjp(VjpBuilder &vjp) {
  auto parts =
      ReduceScatterOp::create(vjp.b, vjp.loc, neededTypes(vjp, getOperands()), neededCotangents(vjp, getNumOperands()),
                              sumOf(vjp), getMeshAttr(), getAxesAttr(), getAlgorithmAttr());
  giveNeeded(vjp, getNumOperands(), parts.getResults());
  return success();
}

LogicalResult AllToAllOp::buildVjp(VjpBuilder &vjp) {
  if (vjp.needs(0))
    vjp.give(0, AllToAllOp::create(vjp.b, vjp.loc, getX().getType(), vjp.cotangent(), getMeshAttr(), getAxesAttr(),
                                   getAlgorithmAttr()));
  return success();
}

LogicalResult BroadcastOp::buildVjp(VjpBuilder &vjp) {
  if (vjp.needs(0))
    vjp.give(0, ReduceOp::create(vjp.b, vjp.loc, getX().getType(), vjp.cotangent(), sumOf(vjp), getRootAttr(),
                                 getMeshAttr(), getAxesAttr(), getAlgorithmAttr()));
  return success();
}

LogicalResult ReduceOp::buildVjp(VjpBuilder &vjp) {
  if (failed(requireLinear(*this, getReduction()))) return failure();
  if (!vjp.needs(0)) return success();
  Value cotangent = vjp.cotangent();
  if (getReduction() == Reduction::mean) divideByRanks(vjp, *this, cotangent);
  vjp.give(0, BroadcastOp::create(vjp.b, vjp.loc, getX().getType(), cotangent, getRootAttr(), getMeshAttr(),
                                  getAxesAttr(), getAlgorithmAttr()));
  return success();
}

LogicalResult GatherOp::buildVjp(VjpBuilder &vjp) {
  if (vjp.needs(0))
    vjp.give(0, ScatterOp::create(vjp.b, vjp.loc, getX().getType(), vjp.cotangent(), getRootAttr(), getMeshAttr(),
                                  getAxesAttr(), getAlgorithmAttr()));
  return success();
}

LogicalResult ScatterOp::buildVjp(VjpBuilder &vjp) {
  if (vjp.needs(0))
    vjp.give(0, GatherOp::create(vjp.b, vjp.loc, getX().getType(), vjp.cotangent(), getRootAttr(), getMeshAttr(),
                                 getAxesAttr(), getAlgorithmAttr()));
  return success();
}

LogicalResult ShardOp::buildVjp(VjpBuilder &vjp) {
  if (vjp.needs(0)) vjp.give(0, ShardOp::create(vjp.b, vjp.loc, vjp.cotangent(), getSharding()));
  return success();
}
