// Dimension rules of elementwise operations that are linear: of parts of sums they give parts of sums.
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNUnary.h"
#include "dialects/NN/DimensionRules.h"

using namespace mlir;

namespace sprig::ir {

static DimensionRule ruleOf(NegOp op) { return elementwiseDimensionRule(op, {{0}}); }
static DimensionRule ruleOf(StopGradientOp op) { return elementwiseDimensionRule(op, {{0}}); }
// In both at once.
static DimensionRule ruleOf(AddOp op) { return elementwiseDimensionRule(op, {{0, 1}}); }
static DimensionRule ruleOf(SubOp op) { return elementwiseDimensionRule(op, {{0, 1}}); }
static DimensionRule ruleOf(SelectOp op) { return elementwiseDimensionRule(op, {{1, 2}}); }
// In either.
static DimensionRule ruleOf(MulOp op) { return elementwiseDimensionRule(op, {{0}, {1}}); }

// Quotients of integers truncate.
static DimensionRule ruleOf(DivOp op) {
  return isReal(op.getResult()) ? elementwiseDimensionRule(op, {{0}}) : elementwiseDimensionRule(op);
}

// Half types and integers round or cut each part of a sum.
static DimensionRule ruleOf(CastOp op) {
  auto isWide = [](Value value) { return isa<Float32Type, Float64Type>(tensorOf(value).getElementType()); };
  bool isLinear = isWide(op.getOperand()) && isWide(op.getResult());
  return isLinear ? elementwiseDimensionRule(op, {{0}}) : elementwiseDimensionRule(op);
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
