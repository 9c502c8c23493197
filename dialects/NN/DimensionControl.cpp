// Dimension rules of operations with regions: what their regions keep apart. Nothing inside is a matter of several
// ranks, so what a region reduces must be whole, but for sums that leave a scan as they are.
#include "dialects/Interfaces/DerivedRule.h"
#include "dialects/NN/NNControl.h"
#include "dialects/NN/NNRecurrent.h"
#include "dialects/NN/NNYield.h"
#include "dialects/NN/DimensionRules.h"

using namespace mlir;

namespace sprig::ir {

static DerivedRule derive(ScanOp op) {
  DerivedRule derived(op);
  derived.keepSums();
  Block &step = op.getStep();
  derived.visit(step);
  ValueRange yielded = step.getTerminator()->getOperands();
  unsigned inputs = op.getNumInputs(), carried = op.getNumCarried();
  for (auto [i, argument] : llvm::enumerate(step.getArguments()))
    derived.setOperand(unsigned(i), argument, i < inputs ? 1 : 0);
  for (auto [i, value] : llvm::enumerate(yielded)) {
    if (i < carried) {
      derived.tie(op.getCarriedArguments()[i], value);
      derived.setCarried(inputs + unsigned(i), op.getCarriedArguments()[i], value);
    }
    derived.setResult(unsigned(i), value, i < carried ? 0 : 1);
  }
  return derived;
}

static DerivedRule derive(CondOp op) {
  DerivedRule derived(op);
  derived.visit(op.getThen());
  derived.visit(op.getElse());
  for (auto [i, a, b] : llvm::enumerate(op.getThen().getArguments(), op.getElse().getArguments())) {
    derived.tie(a, b);
    derived.setOperand(unsigned(i) + 1, a);
  }
  for (auto [i, a, b] :
       llvm::enumerate(op.getThen().getTerminator()->getOperands(), op.getElse().getTerminator()->getOperands())) {
    derived.tie(a, b);
    derived.setResult(unsigned(i), a);
  }
  return derived;
}

static DerivedRule derive(WhileOp op) {
  DerivedRule derived(op);
  derived.visit(op.getTest());
  derived.visit(op.getStep());
  for (auto [i, a, b] : llvm::enumerate(op.getTest().getArguments(), op.getStep().getArguments())) {
    derived.tie(a, b);
    derived.setOperand(unsigned(i), a);
  }
  for (auto [i, value] : llvm::enumerate(op.getStep().getTerminator()->getOperands())) {
    derived.tie(op.getStep().getArgument(unsigned(i)), value);
    derived.setResult(unsigned(i), value);
  }
  return derived;
}

namespace {
template <typename OpT> struct RegionModel : DimensionRuleOpInterface::ExternalModel<RegionModel<OpT>, OpT> {
  DimensionRule getDimensionRule(Operation *op) const { return derive(cast<OpT>(op)).rule(); }

  Operation *buildOnParts(Operation *op, OpBuilder &builder, ValueRange operands, ArrayRef<int64_t> sizes) const {
    DerivedRule derived = derive(cast<OpT>(op));
    DimensionRule rule = derived.rule();
    Operation *part = op->cloneWithoutRegions();
    part->setOperands(operands);
    for (auto [i, result] : llvm::enumerate(part->getResults()))
      result.setType(localType(result.getType(), rule.results[i], sizes));
    for (auto [from, to] : llvm::zip_equal(op->getRegions(), part->getRegions())) {
      Block &block = to.emplaceBlock();
      for (BlockArgument argument : from.getArguments())
        block.addArgument(derived.typeOf(argument, sizes), argument.getLoc());
      derived.buildBlock(from.front(), block, sizes);
    }
    return builder.insert(part);
  }
};
} // namespace

void attachControlDimensionRules(MLIRContext *context) {
  ScanOp::attachInterface<RegionModel<ScanOp>>(*context);
  CondOp::attachInterface<RegionModel<CondOp>>(*context);
  WhileOp::attachInterface<RegionModel<WhileOp>>(*context);
}

} // namespace sprig::ir
