// Dimension rules of elementwise operations that are linear: of parts of sums they give parts of sums.
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNUnary.h"
#include "dialects/NN/DimensionRules.h"

using namespace mlir;

namespace sprig::ir {

static DimensionRule ruleOf(NegOp op) {
  DimensionRule rule = elementwiseDimensionRule(op);
  rule.linear = {{0}};
  return rule;
}

/// In both at once.
template <typename OpT> static DimensionRule sumRule(OpT op) {
  DimensionRule rule = elementwiseDimensionRule(op);
  rule.linear = {{0, 1}};
  return rule;
}
static DimensionRule ruleOf(AddOp op) { return sumRule(op); }
static DimensionRule ruleOf(SubOp op) { return sumRule(op); }

/// In either.
static DimensionRule ruleOf(MulOp op) {
  DimensionRule rule = elementwiseDimensionRule(op);
  rule.linear = {{0}, {1}};
  return rule;
}

// Quotients of integers truncate.
static DimensionRule ruleOf(DivOp op) {
  DimensionRule rule = elementwiseDimensionRule(op);
  if (isa<FloatType>(tensorOf(op.getResult()).getElementType())) rule.linear = {{0}};
  return rule;
}

static DimensionRule ruleOf(SelectOp op) {
  DimensionRule rule = elementwiseDimensionRule(op);
  rule.linear = {{1, 2}};
  return rule;
}

static DimensionRule ruleOf(StopGradientOp op) {
  DimensionRule rule = elementwiseDimensionRule(op);
  rule.linear = {{0}};
  return rule;
}

// Half types and integers round or cut each part of a sum.
static DimensionRule ruleOf(CastOp op) {
  DimensionRule rule = elementwiseDimensionRule(op);
  auto isWide = [](Value value) { return isa<Float32Type, Float64Type>(tensorOf(value).getElementType()); };
  if (isWide(op.getOperand()) && isWide(op.getResult())) rule.linear = {{0}};
  return rule;
}

// The operands that the operation waits for may be split in any way.
static DimensionRule ruleOf(AfterOp op) {
  DimensionRule rule(op);
  for (int64_t dim = 0; dim < tensorOf(op.getOperand()).getRank(); ++dim) passDim(rule, op, 0, dim, dim);
  for (unsigned i = 1; i < op->getNumOperands(); ++i)
    for (auto [dim, size] : llvm::enumerate(tensorOf(op->getOperand(i)).getShape())) {
      unsigned factor = rule.addFactor(size);
      rule.factors[factor].unaffected = {0};
      rule.operand(i, int64_t(dim), factor);
    }
  return rule;
}

void attachElementwiseDimensionRules(MLIRContext *context) {
  attachDimensionRules<NegOp, AddOp, SubOp, MulOp, DivOp, SelectOp, CastOp, StopGradientOp, AfterOp>(context);
}

} // namespace sprig::ir
