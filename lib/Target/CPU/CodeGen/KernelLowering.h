// From kernel functions to the LLVM dialect.
// For ObjectEmitter. The module holds functions of arith, math, memref, scf and vector, as emitKernel makes them, and
// after it only the LLVM dialect; calls go to functions of RuntimeCalls.def or inside the module.
#pragma once
#include "lib/Target/CPU/Kernels/CpuArch.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"

namespace sprig::cpu {

/// The lowering for one instruction set. Its patterns are made once; several threads may then lower modules of their
/// own with it, if the context is multithreaded.
class KernelLowering {
public:
  KernelLowering(mlir::MLIRContext *context, const CpuArch &target);

  /// Lowers every function of `module`. Buffers become bare pointers. A failure has been reported.
  mlir::LogicalResult run(mlir::ModuleOp module) const;

private:
  mlir::LLVMTypeConverter types;
  mlir::FrozenRewritePatternSet expand, convert;
};

/// The same for one module.
mlir::LogicalResult lowerKernelsToLLVM(mlir::ModuleOp module, const CpuArch &target);

/// f64 functions without an instruction of their own become calls of the runtime's table, lane by lane.
void populateRuntimeCallPatterns(const mlir::LLVMTypeConverter &types, mlir::RewritePatternSet &patterns);

/// Products and sums in two roundings, for instruction sets that have no fused operation.
void populateSplitMultiplyAddPatterns(mlir::RewritePatternSet &patterns);

} // namespace sprig::cpu
