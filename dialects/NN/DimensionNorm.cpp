// Dimension rules of batch norms in training. Of all samples they follow from the decompositions, in which ranks add up
// the statistics; in groups each shard of the samples has its own.
#include "dialects/Interfaces/DerivedRule.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/DimensionRules.h"

using namespace mlir;

namespace sprig::ir {

/// [N, C, ...] of operands and results, whose samples the axes of the groups split, and [C] of all others.
template <typename OpT> static DimensionRule groupedRule(OpT op, FactorKind kind) {
  DimensionRule rule(op);
  RankedTensorType type = tensorOf(op.getOperand());
  unsigned samples = rule.addFactor(type.getDimSize(0), kind), channels = rule.addFactor(type.getDimSize(1));
  rule.factors[samples].axes = op.getGroupsAttr();
  SmallVector<unsigned> factors{samples, channels};
  for (int64_t size : type.getShape().drop_front(2)) factors.push_back(rule.addFactor(size, FactorKind::whole));
  auto state = [&](ValueRange values, MutableArrayRef<DimensionRule::Map> maps) {
    for (auto [value, map] : llvm::zip_equal(values, maps)) {
      if (map.size() == 1) map[0] = {channels};
      for (auto [dim, factor] : llvm::zip(map, factors))
        if (map.size() > 1) dim = {factor};
    }
  };
  state(op->getOperands(), rule.operands);
  state(op->getResults(), rule.results);
  return rule;
}

// The mean and the variance are the means of those of the groups, each of which counts by its samples.
static DimensionRule ruleOf(BatchNormTrainOp op) {
  if (!op.getGroups()) return decompositionRule(op);
  DimensionRule rule = groupedRule(op, FactorKind::mean);
  rule.sums = {"", kMeanSum, kVarianceSum};
  return rule;
}
static void fitParts(BatchNormTrainOp part, const DimensionRule &, ArrayRef<int64_t>) { part.removeGroupsAttr(); }

static DimensionRule ruleOf(BatchNormTrainGradOp op) {
  return op.getGroups() ? groupedRule(op, FactorKind::sum) : decompositionRule(op);
}
static void fitParts(BatchNormTrainGradOp part, const DimensionRule &, ArrayRef<int64_t>) { part.removeGroupsAttr(); }

void attachNormDimensionRules(MLIRContext *context) {
  attachDimensionRules<BatchNormTrainOp, BatchNormTrainGradOp>(context);
}

} // namespace sprig::ir
