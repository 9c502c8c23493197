#include "lib/Target/CPU/Kernels/Builder/KernelEmitter.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Target/CPU/Kernels/Elementwise/Epilogue.h"
#include "lib/Target/Kernels/LoopSpace.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

// A loop loses no speed where neighbours in the view's result are neighbours in its operand.
static bool keepsNeighbours(Operation *view) {
  auto transpose = dyn_cast<ir::TransposeOp>(view);
  if (!transpose) return true;
  ArrayRef<int64_t> permutation = transpose.getPermutation();
  return permutation.empty() || permutation.back() == static_cast<int64_t>(permutation.size()) - 1;
}

bool sprig::cpu::canFuse(const FusionGroup &group, Operation *op) {
  if (group.root && fusionKind(group.root) == FusionKind::contraction)
    return Epilogue::takes(op, group.root) && Epilogue::mayYield(op->getResult(0), group.root);
  if (fusionKind(op) == FusionKind::view) return keepsNeighbours(op);
  LoopSpace space{group.shape, group.hasReduction, group.axes};
  if (group.root)
    llvm::append_range(space.shape, cast<RankedTensorType>(group.root->getResult(0).getType()).getShape());
  return space.takes(op, [&](Operation *other) { return group.contains(other); }) &&
         (isa<ir::ReduceOp>(op) || space.mayYield(op->getResult(0)));
}
