// The code of all kernels of a program for NVIDIA architectures: PTX of each different kernel, from the cache or on
// several threads, put together to one text an architecture, and the cubins of these texts. For the target. Everything
// here depends on the program, the options and the assembler alone.
#pragma once
#include "dialects/Kernel/KernelDialect.h"
#include "lib/Target/CUDA/CodeGen/Assembler.h"
#include "lib/Target/Image.h"
#include "lib/Target/Kernels/KernelGraph.h"
#include "lib/Target/Target.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace sprig::cuda {

struct CudaCodeGenOptions {
  int level = 2;   // of --O
  int workers = 0; // threads that make code; 0: as many as the process may use
  FileCache *cache = nullptr;
};

/// Emits a kernel as a function of a name (Kernels/KernelEmitter.h has the form), and says how it is launched.
/// A failure has been reported. Called by several threads at once.
using EmitCudaKernel = llvm::function_ref<mlir::FailureOr<LaunchShape>(
    const KernelGraph &graph, llvm::StringRef name, mlir::gpu::GPUModuleOp module, const CudaArch &arch)>;

struct PtxProgram {
  CudaArch arch;
  std::string text;
  // In the order of exec::launchedKernels. Kernels that differ in names alone are one function.
  std::vector<std::string> functions;
  std::vector<LaunchShape> launches;
};

/// A text for each architecture. The context must have all dialects loaded. A failure has been reported.
mlir::FailureOr<std::vector<PtxProgram>> emitPtx(mlir::ModuleOp program, llvm::ArrayRef<CudaArch> archs,
                                                 const CudaCodeGenOptions &options, EmitCudaKernel emit,
                                                 CodeGenCounts *counts = nullptr);

/// The cubin of each text, from the cache or made side by side. Throws sprig::Error where the assembler fails.
std::vector<Cubin> assemblePtx(mlir::MLIRContext *context, llvm::ArrayRef<PtxProgram> programs,
                               const Assembler &assembler, const CudaCodeGenOptions &options);

} // namespace sprig::cuda
