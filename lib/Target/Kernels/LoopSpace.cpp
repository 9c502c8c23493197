#include "lib/Target/Kernels/LoopSpace.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNShapeOps.h"

using namespace mlir;
using namespace sprig;

bool sprig::isLoopGenerator(Operation *op) {
  return isa<ir::PoolOp, ir::PadOp, ir::GatherOp, ir::GatherElementsOp, ir::GatherNdOp, ir::MatmulOp, ir::ConvOp,
             ir::ConvTransposeOp, ir::ConvFilterGradOp, ir::PoolGradOp>(op);
}

bool LoopSpace::takes(Operation *op, llvm::function_ref<bool(Operation *)> isMember) const {
  if (op->getNumResults() != 1) return false;
  // Reductions that drop their dimensions are results alone: their values do not line up with the others.
  for (Value operand : op->getOperands())
    if (auto reduce = operand.getDefiningOp<ir::ReduceOp>(); reduce && !reduce.getKeepDims() && isMember(reduce))
      return false;
  if (auto reduce = dyn_cast<ir::ReduceOp>(op))
    return shapeOf(reduce.getOperand()) == ArrayRef(shape) && (!hasReduction || reduce.getAxes() == ArrayRef(axes));
  return isa<ElementwiseOpInterface>(op) || ir::splatOf(op) || isLoopGenerator(op) ||
         fusionKind(op) == FusionKind::view;
}

bool LoopSpace::mayYield(Value value) const {
  if (isa<BlockArgument>(value)) return false;
  if (shapeOf(value) == ArrayRef(shape)) return true;
  if (!hasReduction) return false;
  SmallVector<int64_t> kept(shape), dropped;
  for (int64_t axis : axes) kept[axis] = 1;
  for (auto [d, size] : llvm::enumerate(shape))
    if (!llvm::is_contained(axes, static_cast<int64_t>(d))) dropped.push_back(size);
  return shapeOf(value) == ArrayRef(kept) ||
         (value.getDefiningOp<ir::ReduceOp>() && shapeOf(value) == ArrayRef(dropped));
}
