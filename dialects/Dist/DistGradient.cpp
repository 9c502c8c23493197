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

static ReductionAttr sumOf(ir::VjpExpression &e) { return ReductionAttr::get(e.b.getContext(), Reduction::sum); }

/// The cotangents of the results whose operands need one.
static SmallVector<Value> neededCotangents(ir::VjpExpression &e, unsigned count) {
  SmallVector<Value> cotangents;
  for (unsigned i = 0; i < count; ++i)
    if (e.needs(i)) cotangents.push_back(e.cotangent(i));
  return cotangents;
}

static SmallVector<Type> neededTypes(ir::VjpExpression &e, ValueRange operands) {
  SmallVector<Type> types;
  for (auto [i, operand] : llvm::enumerate(operands))
    if (e.needs(unsigned(i))) types.push_back(operand.getType());
  return types;
}

/// Of a mean each rank's value is one of as many as the group has.
static void divideByRanks(ir::VjpExpression &e, Operation *op, MutableArrayRef<Value> cotangents) {
  CollectiveUse use = *collectiveUse(op);
  auto ranks = double(SymbolTable::lookupNearestSymbolFrom<MeshOp>(op, use.mesh).groupOf(0, use.axes).size());
  for (Value &cotangent : cotangents) cotangent = e.div(cotangent, e.splat(cotangent, ranks));
}

LogicalResult AllReduceOp::buildVjp(ir::VjpExpression &e) {
  if (failed(requireLinear(*this, getReduction()))) return failure();
  auto sums = AllReduceOp::create(e.b, e.loc, neededCotangents(e, getNumOperands()), getReductionAttr(), getMeshAttr(),
                                  getAxesAttr(), getAlgorithmAttr());
  e.giveNeeded(sums.getResults());
  return success();
}

LogicalResult ReduceScatterOp::buildVjp(ir::VjpExpression &e) {
  if (failed(requireLinear(*this, getReduction()))) return failure();
  SmallVector<Value> cotangents = neededCotangents(e, getNumOperands());
  if (getReduction() == Reduction::mean) divideByRanks(e, *this, cotangents);
  auto wholes = AllGatherOp::create(e.b, e.loc, neededTypes(e, getOperands()), cotangents, getMeshAttr(), getAxesAttr(),
                                    getAlgorithmAttr());
  e.giveNeeded(wholes.getResults());
  return success();
}

LogicalResult AllGatherOp::buildVjp(ir::VjpExpression &e) {
  auto parts = ReduceScatterOp::create(e.b, e.loc, neededTypes(e, getOperands()), neededCotangents(e, getNumOperands()),
                                       sumOf(e), getMeshAttr(), getAxesAttr(), getAlgorithmAttr());
  e.giveNeeded(parts.getResults());
  return success();
}

/// The operand's cotangent is that of the result on its way back.
template <typename OpT, typename... Attributes>
static LogicalResult giveBack(ir::VjpExpression &e, Value x, Attributes... attributes) {
  if (e.needs(0)) e.give(0, OpT::create(e.b, e.loc, x.getType(), e.cotangent(), attributes...));
  return success();
}

LogicalResult AllToAllOp::buildVjp(ir::VjpExpression &e) {
  return giveBack<AllToAllOp>(e, getX(), getMeshAttr(), getAxesAttr(), getAlgorithmAttr());
}

LogicalResult BroadcastOp::buildVjp(ir::VjpExpression &e) {
  return giveBack<ReduceOp>(e, getX(), sumOf(e), getRootAttr(), getMeshAttr(), getAxesAttr(), getAlgorithmAttr());
}

LogicalResult ReduceOp::buildVjp(ir::VjpExpression &e) {
  if (failed(requireLinear(*this, getReduction()))) return failure();
  if (!e.needs(0)) return success();
  Value cotangent = e.cotangent();
  if (getReduction() == Reduction::mean) divideByRanks(e, *this, cotangent);
  e.give(0, BroadcastOp::create(e.b, e.loc, getX().getType(), cotangent, getRootAttr(), getMeshAttr(), getAxesAttr(),
                                getAlgorithmAttr()));
  return success();
}

LogicalResult GatherOp::buildVjp(ir::VjpExpression &e) {
  return giveBack<ScatterOp>(e, getX(), getRootAttr(), getMeshAttr(), getAxesAttr(), getAlgorithmAttr());
}

LogicalResult ScatterOp::buildVjp(ir::VjpExpression &e) {
  return giveBack<GatherOp>(e, getX(), getRootAttr(), getMeshAttr(), getAxesAttr(), getAlgorithmAttr());
}

LogicalResult ShardOp::buildVjp(ir::VjpExpression &e) {
  if (e.needs(0)) e.give(0, ShardOp::create(e.b, e.loc, e.cotangent(), getSharding()));
  return success();
}
