// A kernel function of several dispatches.
// For the target, which makes functions of exec.kernel operations, and through them of a whole small network.
#pragma once
#include "lib/Target/CPU/Kernels/Builder/KernelEmitter.h"

namespace sprig {

/// What a kernel computes: a block of dispatches, and reshapes between them, that ends in a yield of some of their
/// results.
struct KernelGraph {
  mlir::Block *body;
  /// Offset in scratch memory of each result that is not yielded, in order; after what the dispatches need themselves.
  llvm::ArrayRef<int64_t> places;
  int64_t scratchBytes = 0;
};

/// Emits a function of the same form as emitKernel, its buffers the block's arguments and then what it yields. One
/// dispatch computes the tiles [begin, end); several compute all of their tiles, whatever the range.
mlir::FailureOr<mlir::func::FuncOp> emitKernelGraph(const KernelGraph &graph, llvm::StringRef name,
                                                    const CpuArch &target, mlir::ModuleOp module);

} // namespace sprig
