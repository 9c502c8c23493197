// isElementwise: what the dialect says of recorded operations, by its interface or by their dimension rules.
#include "dialects/Interfaces/DimensionRule.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/Interfaces/TensorTypes.h"
#include "lib/Frontend/Bridge.h"
#include "lib/Frontend/Bridge/Lower.h"
#include "sprig/error.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::frontend;

// Each dimension of the result is a factor that passes, and each operand has that factor there or broadcasts.
static bool isElementwiseByRule(Operation *op) {
  if (op->getNumResults() != 1) return false;
  DimensionRule rule = dimensionRuleOf(op);
  ArrayRef<int64_t> shape = shapeOf(op->getResult(0));
  auto isAlong = [&](size_t dim) {
    const DimensionRule::Dim &factors = rule.results[0][dim];
    if (factors.size() != 1 || rule.factors[factors[0]].kind != FactorKind::passes) return false;
    return llvm::all_of(llvm::zip_equal(op->getOperands(), rule.operands), [&](auto each) {
      auto [operand, map] = each;
      int64_t own = int64_t(dim) - int64_t(shape.size()) + int64_t(map.size());
      return own < 0 || map[size_t(own)] == factors || (shapeOf(operand)[size_t(own)] == 1 && shape[dim] != 1);
    });
  };
  auto fits = [&](Value operand) { return shapeOf(operand).size() <= shape.size(); };
  return llvm::all_of(op->getOperands(), fits) && llvm::all_of(llvm::seq(shape.size()), isAlong);
}

bool frontend::isElementwise(const Graph &graph) try {
  bridge::Workspace work;
  func::FuncOp function = bridge::Lowering(work.context()).addFunction(*work.module, "main", graph);
  return llvm::all_of(function.getBody().front().without_terminator(),
                      [](Operation &op) { return isa<ElementwiseOpInterface>(op) || isElementwiseByRule(&op); });
} catch (const Error &) {
  return false;
}
