// From kernels of a gpu.module to the dialects nvvm and llvm.
// For PtxEmitter and the pass `lower-gpu-module`. Kernels are functions of arith, math, scf, memref, vector, gpu and
// nvgpu; buffers become bare pointers. Functions become our own arithmetic (lib/Target/Math); what there is none
// for, most functions of f64, is refused by name: a GPU has no library to call.
#pragma once
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

namespace sprig::cuda {

/// Its patterns are made once; several threads may then lower modules of their own with it, if the context is
/// multithreaded.
class GpuLowering {
public:
  explicit GpuLowering(mlir::MLIRContext *context);

  /// Lowers every function of the module. A failure has been reported.
  mlir::LogicalResult run(mlir::gpu::GPUModuleOp module) const;

private:
  mlir::LLVMTypeConverter types;
  mlir::FrozenRewritePatternSet expand, convert;
};

/// The dialects that kernels of a GPU go through, and their translations to LLVM IR.
void registerGpuDialects(mlir::DialectRegistry &registry);

} // namespace sprig::cuda
