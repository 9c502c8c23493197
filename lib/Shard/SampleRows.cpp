#include "lib/Shard/SampleRows.h"
#include "dialects/Interfaces/DimensionRule.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;

namespace sprig::shard {

bool leadsWithSamples(Value value, int64_t dim, int64_t samples) {
  llvm::DenseSet<std::pair<Value, int64_t>> seen;
  SmallVector<std::pair<Value, int64_t>> open{{value, dim}};
  while (!open.empty()) {
    auto at = open.pop_back_val();
    if (!seen.insert(at).second) continue;
    if (auto argument = dyn_cast<BlockArgument>(at.first)) {
      bool isInput = isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
      if (isInput && at.second == 0 && cast<RankedTensorType>(argument.getType()).getDimSize(0) == samples) return true;
      continue;
    }
    auto result = cast<OpResult>(at.first);
    Operation *op = result.getOwner();
    if (op->getNumRegions()) continue;
    DimensionRule rule = dimensionRuleOf(op);
    const DimensionRule::Dim &factors = rule.results[result.getResultNumber()][size_t(at.second)];
    // What is minor to samples may be part of one factor with them.
    if (factors.empty() || rule.factors[factors.front()].size % samples) continue;
    for (auto [operand, map] : llvm::zip_equal(op->getOperands(), rule.operands))
      for (auto [index, of] : llvm::enumerate(map))
        if (!of.empty() && of.front() == factors.front()) open.push_back({operand, int64_t(index)});
  }
  return false;
}

} // namespace sprig::shard
