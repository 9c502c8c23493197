// From kernels in the dialects nvvm and llvm to PTX text.
// For the compilation of programs and the pass `emit-ptx`. One per thread and architecture. The text depends on the
// kernels, the architecture and the level alone; it calls nothing.
#pragma once
#include "lib/Target/CUDA/CudaArch.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include <memory>

namespace llvm {
class TargetMachine;
} // namespace llvm

namespace sprig::cuda {

class PtxEmitter {
public:
  /// `level` is that of `--O`, 0 to 3.
  static llvm::Expected<PtxEmitter> create(const CudaArch &arch, int level);
  PtxEmitter(PtxEmitter &&);
  ~PtxEmitter();

  /// The functions of a module that GpuLowering has lowered, without the head of the file.
  llvm::Expected<std::string> functions(mlir::gpu::GPUModuleOp module);

private:
  PtxEmitter(std::unique_ptr<llvm::TargetMachine> machine, int level);

  std::unique_ptr<llvm::TargetMachine> machine;
  int level;
};

/// What a file of such functions begins with.
std::string ptxHead(const CudaArch &arch);

} // namespace sprig::cuda
