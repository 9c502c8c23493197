// A kernel function of several dispatches.
// For the target, which makes functions of exec.kernel operations, and through them of a whole small network.
#pragma once
#include "lib/Target/CPU/Kernels/Builder/KernelEmitter.h"
#include "lib/Target/Kernels/KernelGraph.h"

namespace sprig::cpu {

/// Emits a function of the same form as emitKernel, its buffers the block's arguments and then what it yields. One
/// dispatch computes the tiles [begin, end); several compute all of their tiles, whatever the range.
mlir::FailureOr<mlir::func::FuncOp> emitKernelGraph(const KernelGraph &graph, llvm::StringRef name,
                                                    const CpuArch &target, mlir::ModuleOp module);

/// Whether that function has a pointer to its buffers in their place (KernelEmitter::readsBufferList).
bool readsBufferList(mlir::Block &body);

} // namespace sprig::cpu
