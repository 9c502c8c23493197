// The operations of a dispatch in the order in which errors at run time number them: those of a branch or a loop after
// the operation that holds them. For code generation, which reports the numbers, and for packages, which hold the
// names.
#pragma once
#include "dialects/Kernel/KernelDispatch.h"
#include "dialects/NN/NNControl.h"

namespace sprig::kernel {

inline void collectOperations(mlir::Block &block, llvm::SmallVectorImpl<mlir::Operation *> &operations) {
  for (mlir::Operation &op : block.without_terminator()) {
    operations.push_back(&op);
    if (!llvm::isa<ir::CondOp, ir::WhileOp>(op)) continue;
    for (mlir::Region &region : op.getRegions())
      for (auto dispatch : region.front().getOps<DispatchOp>())
        collectOperations(dispatch->getRegion(0).front(), operations);
  }
}

inline llvm::SmallVector<mlir::Operation *> operationsOf(DispatchOp dispatch) {
  llvm::SmallVector<mlir::Operation *> operations;
  collectOperations(dispatch->getRegion(0).front(), operations);
  return operations;
}

} // namespace sprig::kernel
