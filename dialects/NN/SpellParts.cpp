#include "dialects/NN/SpellParts.h"
#include "dialects/NN/Attributes.h"
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNLoss.h"

using namespace mlir;

namespace sprig::ir {

void spellParts(Operation *root) {
  llvm::DenseMap<std::pair<Value, uint64_t>, Value> counts; // of means, which their gradients divide by, too
  root->walk([&](Operation *op) {
    if (!isa<LossMeanOp, LossMeanGradOp, LossScaleOp, BatchNormTrainGradOp>(op)) return;
    if (auto norm = dyn_cast<BatchNormTrainGradOp>(op); norm && norm.getGroups()) return; // not divided yet
    OpBuilder b(op);
    auto gradient = dyn_cast<LossMeanGradOp>(op);
    Value count = gradient ? counts.lookup({gradient.getLike(), gradient.getDims()}) : Value();
    bool isSeen = count && count.getParentRegion()->isAncestor(op->getParentRegion());
    SmallVector<Value> values;
    if (isSeen && count.getType() == gradient.getType())
      values = {DivOp::create(b, op->getLoc(), gradient.getCotangent(), count)};
    else
      values = *cast<DecomposableOpInterface>(op).decompose(b); // which cannot fail
    if (auto mean = dyn_cast<LossMeanOp>(op))
      counts[{mean.getOperand(), mean.getDims()}] = values[0].getDefiningOp<DivOp>().getRhs();
    if (op->hasAttr(kDifferentiatedAttr)) values[0].getDefiningOp()->setAttr(kDifferentiatedAttr, b.getUnitAttr());
    op->replaceAllUsesWith(values);
    op->erase();
  });
}

} // namespace sprig::ir
