#include "lib/Transforms/RegionInputs.h"
#include "dialects/NN/NNControl.h"
#include "dialects/NN/NNShapeOps.h"

using namespace mlir;
using namespace sprig;

/// One more operand, after the others, and one more argument of each region; gives the argument's number.
static unsigned addInput(Operation *control, Value value) {
  if (auto cond = dyn_cast<ir::CondOp>(control))
    cond.getInputsMutable().append(value);
  else
    cast<ir::WhileOp>(control).getInvariantsMutable().append(value);
  for (Region &region : control->getRegions()) region.addArgument(value.getType(), value.getLoc());
  return control->getRegion(0).getNumArguments() - 1;
}

void sprig::takeConstantsOut(Operation *control) {
  OpBuilder b(control);
  llvm::DenseMap<Attribute, unsigned> made; // number of the region argument
  for (Region &region : control->getRegions())
    for (auto constant : llvm::make_early_inc_range(region.getOps<ir::ConstantOp>())) {
      auto [at, fresh] = made.try_emplace(constant.getValue(), 0);
      if (fresh) at->second = addInput(control, b.clone(*constant)->getResult(0));
      constant.replaceAllUsesWith(Value(region.getArgument(at->second)));
      constant.erase();
    }
}

void sprig::takeLayoutsOut(ir::WhileOp loop, const Target &target) {
  OpBuilder b(loop);
  unsigned carried = loop.getNumCarried();
  bool moved = false;
  for (Region &region : loop->getRegions())
    for (Operation &op : llvm::make_early_inc_range(region.front())) {
      if (!isa<ir::TransposeOp, ir::ReshapeOp>(op) && !target.isLayout(&op)) continue;
      auto argument = dyn_cast<BlockArgument>(op.getOperand(0));
      if (!argument || argument.getArgNumber() < carried) continue;
      Operation *outside = b.clone(op);
      outside->setOperand(0, loop->getOperand(argument.getArgNumber()));
      unsigned number = addInput(loop, outside->getResult(0));
      op.getResult(0).replaceAllUsesWith(region.getArgument(number));
      op.erase();
      moved = true;
    }
  if (!moved) return;
  // Steps on the way to a layout are read by the next one alone.
  for (unsigned i = loop->getNumOperands(); i-- > carried;) {
    if (!loop.getTest().getArgument(i).use_empty() || !loop.getStep().getArgument(i).use_empty()) continue;
    for (Region &region : loop->getRegions()) region.eraseArgument(i);
    loop.getInvariantsMutable().erase(i - carried);
  }
}
