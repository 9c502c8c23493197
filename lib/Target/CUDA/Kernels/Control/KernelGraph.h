// The kernel of one dispatch, or of a whole small network: one block that computes several.
#pragma once
#include "lib/Target/CUDA/Kernels/KernelEmitter.h"
#include "lib/Target/Kernels/KernelGraph.h"

namespace sprig::cuda {

/// Emits a function of the same form as emitCudaKernel, its buffers the block's arguments and then what it yields.
/// Several dispatches are one tile.
mlir::FailureOr<CudaKernel> emitCudaKernelGraph(const KernelGraph &graph, llvm::StringRef name,
                                                mlir::gpu::GPUModuleOp module, const CudaArch &arch);

/// Whether a dispatch is quickly done by one block, in a kernel of several.
bool isShortOnCuda(kernel::DispatchOp dispatch);

} // namespace sprig::cuda
