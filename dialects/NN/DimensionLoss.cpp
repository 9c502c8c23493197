// Dimension rules of losses: of some of the rows or elements they give these ones' losses, a part of the sum, or a mean
// that counts by the number of elements.
#include "dialects/Interfaces/DerivedRule.h"
#include "dialects/NN/NNLoss.h"
#include "dialects/NN/DimensionRules.h"

using namespace mlir;

namespace sprig::ir {

static FactorKind kindAlong(LossReduction reduction) {
  switch (reduction) {
  case LossReduction::none: return FactorKind::passes;
  case LossReduction::sum: return FactorKind::sum;
  case LossReduction::mean: return FactorKind::mean;
  }
  return FactorKind::whole;
}

/// Of the dimensions that operand and targets share.
template <typename OpT> static DimensionRule rowsRule(OpT op, int64_t shared) {
  DimensionRule rule(op);
  for (int64_t dim = 0; dim < shared; ++dim) {
    unsigned factor = rule.addFactor(tensorOf(op.getOperand()).getDimSize(dim), kindAlong(op.getReduction()));
    rule.operand(0, dim, factor), rule.operand(1, dim, factor);
    if (op.getReduction() == LossReduction::none) rule.result(0, dim, factor);
  }
  return rule;
}

/// Half types are summed in f32 and rounded once: ranks add up what their decomposition has.
template <typename OpT> static bool isRoundedAtTheEnd(OpT op) {
  Type element = tensorOf(op.getOperand()).getElementType();
  return op.getReduction() != LossReduction::none && !element.isF32() && !element.isF64();
}

// A mean over what counts divides by the count of all rows.
template <typename OpT> static DimensionRule classLossRule(OpT op) {
  bool isWeighted = op.getReduction() == LossReduction::mean && (op.getWeights() || op.getIgnoreIndex());
  if (isWeighted || isRoundedAtTheEnd(op)) return decompositionRule(op);
  RankedTensorType type = tensorOf(op.getOperand());
  int64_t axis = type.getRank() - 1;
  DimensionRule rule = rowsRule(op, axis);
  rule.wholeOperand(0, axis, type.getDimSize(axis));
  if (op.getWeights()) rule.wholeOperand(2, 0, type.getDimSize(axis));
  return rule;
}
static DimensionRule ruleOf(CrossEntropyOp op) { return classLossRule(op); }
static DimensionRule ruleOf(NllLossOp op) { return classLossRule(op); }

template <typename OpT> static DimensionRule elementLossRule(OpT op) {
  if (isRoundedAtTheEnd(op)) return decompositionRule(op);
  return rowsRule(op, tensorOf(op.getOperand()).getRank());
}
static DimensionRule ruleOf(MseLossOp op) { return elementLossRule(op); }
static DimensionRule ruleOf(L1LossOp op) { return elementLossRule(op); }
static DimensionRule ruleOf(HuberLossOp op) { return elementLossRule(op); }
static DimensionRule ruleOf(BceLossOp op) { return elementLossRule(op); }
static DimensionRule ruleOf(BceWithLogitsLossOp op) { return elementLossRule(op); }
static DimensionRule ruleOf(KlDivLossOp op) { return elementLossRule(op); }

void attachLossDimensionRules(MLIRContext *context) {
  attachDimensionRules<CrossEntropyOp, NllLossOp, MseLossOp, L1LossOp, HuberLossOp, BceLossOp, BceWithLogitsLossOp,
                       KlDivLossOp>(context);
}

} // namespace sprig::ir
