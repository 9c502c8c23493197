#include "lib/Target/CPU/Kernels/Elementwise/InPlace.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNStructure.h"
#include "lib/Target/CPU/Kernels/Builder/KernelEmitter.h"
#include "lib/Target/CPU/Kernels/Elementwise/LoopGroup.h"

using namespace mlir;
using namespace sprig;

static bool isSplat(Operation &op) {
  auto constant = dyn_cast<ir::ConstantOp>(op);
  auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
  return dense && dense.isSplat();
}

// Loops load, compute and store a position at a time, tails masked. Rows that are reduced are read in several passes
// and written in the last; anything that looks at other positions (views, windows, gathers) is not taken.
static bool loopsMayOverwrite(ir::DispatchOp dispatch, unsigned result) {
  Block &body = dispatch->getRegion(0).front();
  for (Operation &op : body.without_terminator())
    if (!isa<ElementwiseOpInterface, ir::ReduceOp>(op) && !isSplat(op)) return false;
  auto group = LoopGroup::analyze(dispatch);
  return group && group->merged && ArrayRef(group->shape) == shapeOf(dispatch->getResult(result));
}

// An epilogue is computed where the accumulators of an element are complete, and each element is stored once. The
// operands of the contraction itself are read all the time.
static bool epilogueMayOverwrite(BlockArgument argument) {
  return llvm::all_of(argument.getUsers(), [](Operation *user) { return isa<ElementwiseOpInterface>(user); });
}

bool sprig::mayOverwrite(ir::DispatchOp dispatch, unsigned operand, unsigned result) {
  if (dispatch->getOperand(operand).getType() != dispatch->getResult(result).getType()) return false;
  if (llvm::count(dispatch->getOperands(), dispatch->getOperand(operand)) != 1) return false;
  const KernelEmitter *emitter = findKernelEmitter(dispatch);
  if (!emitter) return false;
  StringRef name = emitter->name();
  if (name == "loops") return loopsMayOverwrite(dispatch, result);
  if (name == "conv_packed" || name == "conv_winograd" || name == "conv_depthwise" || name == "conv_filter_grad" ||
      name == "matmul" || name == "matmul_packed")
    return epilogueMayOverwrite(dispatch->getRegion(0).getArgument(operand));
  return false;
}

SmallVector<int64_t> sprig::overwritableOperands(ir::DispatchOp dispatch) {
  SmallVector<int64_t> pairs;
  for (unsigned operand = 0; operand < dispatch->getNumOperands(); ++operand)
    for (unsigned result = 0; result < dispatch->getNumResults(); ++result)
      if (mayOverwrite(dispatch, operand, result)) pairs.append({operand, dispatch->getNumOperands() + result});
  return pairs;
}
