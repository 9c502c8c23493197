// Dimension rules of losses: of some of the rows or elements they give these ones' losses, a part of the sum, or a mean
// that counts by the number of elements.
#include "dialects/Interfaces/DerivedRule.h"
#include "dialects/NN/DimensionRules.h"
#include "dialects/NN/ExpressionBuilder.h"
#include "dialects/NN/NNLoss.h"

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

/// Of an operand the first dimensions of which count in a mean, and the others are added up over.
template <typename OpT> static DimensionRule meanRule(OpT op, unsigned operand) {
  DimensionRule rule(op);
  for (auto [dim, size] : llvm::enumerate(tensorOf(op->getOperand(operand)).getShape())) {
    bool counts = int64_t(dim) < int64_t(op.getDims());
    rule.operand(operand, int64_t(dim), rule.addFactor(size, counts ? FactorKind::mean : FactorKind::sum));
  }
  return rule;
}
static DimensionRule ruleOf(LossMeanOp op) { return meanRule(op, 0); }

static DimensionRule ruleOf(LossMeanGradOp op) {
  DimensionRule rule = meanRule(op, 1);
  for (Factor &factor : rule.factors) factor.unaffected = {0};
  return rule;
}

// A part of the positions has that part of the mean, and so of the cotangent: one number with the loss's factor.
static void fitParts(LossMeanGradOp part, const DimensionRule &rule, ArrayRef<int64_t> sizes) {
  double weight = 1;
  for (auto [factor, size] : llvm::zip_equal(rule.factors, sizes))
    if (factor.kind == FactorKind::mean && factor.size) weight *= double(size) / double(factor.size);
  if (weight == 1) return;
  OpBuilder b(part);
  Expression e(b, part.getLoc());
  Value g = part.getCotangent();
  if (auto scale = g.getDefiningOp<LossScaleOp>()) {
    g = scale.getOperand();
    weight *= scale.getFactor().convertToDouble();
  }
  part.getCotangentMutable().assign(e.mul(g, e.splat(g, weight)));
}

static DimensionRule ruleOf(LossScaleOp op) { return elementwiseDimensionRule(op, {{0}}); }

void attachLossDimensionRules(MLIRContext *context) {
  attachDimensionRules<CrossEntropyOp, NllLossOp, MseLossOp, L1LossOp, HuberLossOp, BceLossOp, BceWithLogitsLossOp,
                       KlDivLossOp, LossMeanOp, LossMeanGradOp, LossScaleOp>(context);
}

} // namespace sprig::ir
