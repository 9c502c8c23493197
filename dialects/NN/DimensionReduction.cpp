// Dimension rules of reductions, sliding windows, running sums and choices.
#include "dialects/NN/Attributes.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/DimensionRules.h"

using namespace mlir;

namespace sprig::ir {

static FactorKind kindOf(ReduceKind kind, Type element) {
  // Of i1 a sum would count in a type that cannot.
  bool isFlag = element.isInteger(1);
  switch (kind) {
  case ReduceKind::sum: return isFlag ? FactorKind::whole : FactorKind::sum;
  case ReduceKind::prod: return isFlag ? FactorKind::whole : FactorKind::product;
  case ReduceKind::min: return FactorKind::min;
  case ReduceKind::max: return FactorKind::max;
  }
  return FactorKind::whole;
}

static DimensionRule ruleOf(ReduceOp op) {
  DimensionRule rule(op);
  RankedTensorType type = tensorOf(op.getOperand());
  int64_t removed = 0;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (!llvm::is_contained(op.getAxes(), dim)) {
      passDim(rule, op, 0, dim, dim - removed);
      continue;
    }
    rule.operand(0, dim, rule.addFactor(type.getDimSize(dim), kindOf(op.getKind(), type.getElementType())));
    removed += !op.getKeepDims();
  }
  if (op.getKind() != ReduceKind::sum) return rule;
  rule.linear = {{0}};
  if (auto name = op->getAttrOfType<StringAttr>(kSumAttr)) rule.sums[0] = name;
  return rule;
}
// The sum of a part has no name: ranks have added the parts up.
static void fitParts(ReduceOp part, const DimensionRule &, ArrayRef<int64_t>) { part->removeDiscardableAttr(kSumAttr); }

/// All along one axis, the others pass.
static DimensionRule alongAxis(Operation *op, int64_t axis, bool isRemoved) {
  DimensionRule rule(op);
  RankedTensorType type = tensorOf(op->getOperand(0));
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    if (dim != axis) {
      passDim(rule, op, 0, dim, dim - (isRemoved && dim > axis));
      continue;
    }
    rule.wholeOperand(0, dim, type.getDimSize(dim));
    for (unsigned i = 0; !isRemoved && i < op->getNumResults(); ++i)
      rule.wholeResult(i, dim, tensorOf(op->getResult(i)).getDimSize(dim));
  }
  return rule;
}
static DimensionRule ruleOf(ArgReduceOp op) { return alongAxis(op, int64_t(op.getAxis()), !op.getKeepDims()); }
static DimensionRule ruleOf(TopKOp op) { return alongAxis(op, int64_t(op.getAxis()), false); }
static DimensionRule ruleOf(CumulativeOp op) {
  DimensionRule rule = alongAxis(op, int64_t(op.getAxis()), false);
  if (op.getKind() == ReduceKind::sum) rule.linear = {{0}};
  return rule;
}

/// Samples and channels pass, windows lie within the rest.
static DimensionRule windowRule(Operation *op, bool channelsLast) {
  int64_t channelDim = channelsLast ? tensorOf(op->getOperand(0)).getRank() - 1 : 1;
  return dimByDimRule(op, [&](int64_t dim) { return dim == 0 || dim == channelDim; });
}
static DimensionRule ruleOf(PoolOp op) {
  DimensionRule rule = windowRule(op, op.getChannelsLast());
  if (op.getKind() == ReduceKind::sum) rule.linear = {{0}};
  return rule;
}
static DimensionRule ruleOf(PoolGradOp op) {
  DimensionRule rule = windowRule(op, op.getChannelsLast());
  rule.linear = {{1}};
  return rule;
}
// A flat index counts over all samples and channels.
static DimensionRule ruleOf(ArgMaxPoolOp op) { return DimensionRule(op); }

void attachReductionDimensionRules(MLIRContext *context) {
  attachDimensionRules<ReduceOp, ArgReduceOp, CumulativeOp, TopKOp, PoolOp, PoolGradOp, ArgMaxPoolOp>(context);
}

} // namespace sprig::ir
