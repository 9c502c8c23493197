#include "dialects/Interfaces/OpInterfaces.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Target/CUDA/Kernels/Contraction/ConvForm.h"
#include "lib/Target/CUDA/Kernels/KernelEmitter.h"
#include "lib/Target/Kernels/LoopSpace.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

static bool broadcastsTo(Value value, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> own = shapeOf(value);
  if (own.size() > shape.size()) return false;
  return llvm::all_of(llvm::zip(llvm::reverse(own), llvm::reverse(shape)),
                      [](auto sizes) { return std::get<0>(sizes) == std::get<1>(sizes) || std::get<0>(sizes) == 1; });
}

// A contraction reads its operands as they lie in memory; what follows it runs on the accumulators of its result.
static bool followsContraction(Operation *op, Operation *root) {
  ArrayRef<int64_t> shape = shapeOf(root->getResult(0));
  if (op->getNumResults() != 1 || llvm::is_contained(op->getUsers(), root)) return false;
  if (!isa<ElementwiseOpInterface>(op) || ir::isCheckedAtRunTime(op) || shapeOf(op->getResult(0)) != shape)
    return false;
  return llvm::all_of(op->getOperands(), [&](Value operand) { return broadcastsTo(operand, shape); });
}

bool sprig::cuda::canFuseOnCuda(const FusionGroup &group, Operation *op) {
  if (group.root && fusionKind(group.root) == FusionKind::contraction)
    return isFilterView(op, group.root) || followsContraction(op, group.root);
  // Threads read what they like: views are free, unless they turn what neighbours read.
  if (auto transpose = dyn_cast<ir::TransposeOp>(op)) {
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    return permutation.empty() || permutation.back() == static_cast<int64_t>(permutation.size()) - 1;
  }
  if (fusionKind(op) == FusionKind::view) return true;
  LoopSpace space{group.shape, group.hasReduction, group.axes};
  if (group.root) llvm::append_range(space.shape, shapeOf(group.root->getResult(0)));
  return space.takes(op, [&](Operation *other) { return group.contains(other); }) &&
         (isa<ir::ReduceOp>(op) || space.mayYield(op->getResult(0)));
}
