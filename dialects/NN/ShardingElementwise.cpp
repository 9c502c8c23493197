// Sharding rules of elementwise operations that are linear: of parts of sums they give parts of sums.
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNUnary.h"
#include "dialects/NN/ShardingRules.h"

using namespace mlir;

namespace sprig::ir {

static ShardingRule ruleOf(NegOp op) {
  ShardingRule rule = elementwiseShardingRule(op);
  rule.linear = {{0}};
  return rule;
}

/// In both at once.
template <typename OpT> static ShardingRule sumRule(OpT op) {
  ShardingRule rule = elementwiseShardingRule(op);
  rule.linear = {{0, 1}};
  return rule;
}
static ShardingRule ruleOf(AddOp op) { return sumRule(op); }
static ShardingRule ruleOf(SubOp op) { return sumRule(op); }

/// In either.
static ShardingRule ruleOf(MulOp op) {
  ShardingRule rule = elementwiseShardingRule(op);
  rule.linear = {{0}, {1}};
  return rule;
}

// Quotients of integers truncate.
static ShardingRule ruleOf(DivOp op) {
  ShardingRule rule = elementwiseShardingRule(op);
  if (isa<FloatType>(tensorOf(op.getResult()).getElementType())) rule.linear = {{0}};
  return rule;
}

static ShardingRule ruleOf(SelectOp op) {
  ShardingRule rule = elementwiseShardingRule(op);
  rule.linear = {{1, 2}};
  return rule;
}

static ShardingRule ruleOf(StopGradientOp op) {
  ShardingRule rule = elementwiseShardingRule(op);
  rule.linear = {{0}};
  return rule;
}

// What is waited for may be split in any way.
static ShardingRule ruleOf(AfterOp op) {
  ShardingRule rule(op);
  for (int64_t dim = 0; dim < tensorOf(op.getOperand()).getRank(); ++dim) passDim(rule, op, 0, dim, dim);
  for (unsigned i = 1; i < op->getNumOperands(); ++i)
    for (auto [dim, size] : llvm::enumerate(tensorOf(op->getOperand(i)).getShape()))
      rule.operand(i, int64_t(dim), rule.addFactor(size));
  return rule;
}

void attachElementwiseShardingRules(MLIRContext *context) {
  attachShardingRules<NegOp, AddOp, SubOp, MulOp, DivOp, SelectOp, StopGradientOp, AfterOp>(context);
}

} // namespace sprig::ir
