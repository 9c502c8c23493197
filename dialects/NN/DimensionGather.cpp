// Dimension rules of operations that take elements from, or put them to, places that data name.
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/DimensionRules.h"

using namespace mlir;

namespace sprig::ir {

// result[p..., i..., s...]: an index may name any slice.
static DimensionRule ruleOf(GatherOp op) {
  DimensionRule rule(op);
  RankedTensorType from = tensorOf(op.getOperand()), indices = tensorOf(op.getIndices());
  int64_t axis = int64_t(op.getAxis());
  for (int64_t dim = 0; dim < from.getRank(); ++dim) {
    if (dim == axis)
      rule.wholeOperand(0, dim, from.getDimSize(dim));
    else
      passDim(rule, op, 0, dim, dim < axis ? dim : dim + indices.getRank() - 1);
  }
  for (int64_t dim = 0; dim < indices.getRank(); ++dim) passDim(rule, op, 1, dim, axis + dim);
  rule.linear = {{0}};
  return rule;
}

/// Operations whose operands agree in dimensions, of which one is addressed: others pass where they are of one size.
static DimensionRule elementsRule(Operation *op, int64_t axis) {
  return dimByDimRule(op, [&](int64_t dim) {
    return dim != axis &&
           llvm::all_equal(llvm::map_range(op->getOperands(), [&](Value value) { return shapeOf(value)[dim]; }));
  });
}
static DimensionRule ruleOf(GatherElementsOp op) {
  DimensionRule rule = elementsRule(op, int64_t(op.getAxis()));
  rule.linear = {{0}};
  return rule;
}

/// A dimension of indices and updates that are added to an operand: those of a part of its positions make a term.
static unsigned addTerms(DimensionRule &rule, int64_t size) {
  unsigned factor = rule.addFactor(size, FactorKind::sum);
  rule.factors[factor].addends = {0};
  return factor;
}

static DimensionRule ruleOf(ScatterElementsOp op) {
  auto axis = int64_t(op.getAxis());
  DimensionRule rule = elementsRule(op, axis);
  if (op.getKind() != ScatterKind::add) return rule;
  unsigned factor = addTerms(rule, tensorOf(op.getIndices()).getDimSize(axis));
  for (unsigned operand : {1, 2}) rule.operands[operand][size_t(axis)] = {factor};
  rule.linear = {{0, 2}};
  return rule;
}

// Batch dimensions, then tuples of indices, then what they address: slices of the dimensions behind.
static DimensionRule ruleOf(GatherNdOp op) {
  DimensionRule rule(op);
  RankedTensorType from = tensorOf(op.getOperand()), indices = tensorOf(op.getIndices());
  int64_t batch = int64_t(op.getBatchDims()), places = indices.getRank() - 1, tuple = indices.getDimSize(places);
  for (int64_t dim = 0; dim < places; ++dim) {
    unsigned factor = rule.addFactor(indices.getDimSize(dim));
    rule.operand(1, dim, factor), rule.result(0, dim, factor);
    if (dim < batch) rule.operand(0, dim, factor);
  }
  for (int64_t dim = batch; dim < batch + tuple; ++dim) rule.wholeOperand(0, dim, from.getDimSize(dim));
  rule.wholeOperand(1, places, tuple);
  for (int64_t dim = batch + tuple; dim < from.getRank(); ++dim)
    passDim(rule, op, 0, dim, dim - batch - tuple + places);
  rule.linear = {{0}};
  return rule;
}

// Updates are put one after the other, so only the slices themselves can be split, unless they are added.
static DimensionRule ruleOf(ScatterNdOp op) {
  DimensionRule rule(op);
  RankedTensorType into = tensorOf(op.getOperand()), indices = tensorOf(op.getIndices());
  int64_t places = indices.getRank() - 1, tuple = indices.getDimSize(places);
  for (int64_t dim = tuple; dim < into.getRank(); ++dim) {
    unsigned factor = rule.addFactor(into.getDimSize(dim));
    rule.operand(0, dim, factor), rule.result(0, dim, factor), rule.operand(2, dim - tuple + places, factor);
  }
  if (op.getKind() != ScatterKind::add) return rule;
  for (int64_t dim = 0; dim < places; ++dim) {
    unsigned factor = addTerms(rule, indices.getDimSize(dim));
    rule.operand(1, dim, factor), rule.operand(2, dim, factor);
  }
  rule.linear = {{0, 2}};
  return rule;
}

void attachGatherDimensionRules(MLIRContext *context) {
  attachDimensionRules<GatherOp, GatherElementsOp, GatherNdOp, ScatterElementsOp, ScatterNdOp>(context);
}

} // namespace sprig::ir
