// The kernel of a dispatch inside another function: for kernels of several dispatches and for regions of branches and
// loops. Nothing is called; trip counts, offsets and conditions of the part are constants.
#pragma once
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/CPU/Kernels/Builder/KernelEmitter.h"

namespace sprig::cpu {

/// Emits all tiles of a dispatch at the builder's insertion point, in a kernel function (KernelEmitter.h) of `module`
/// whose scratch memory starts with what the part needs. `buffers` are those of the dispatch's operands, then of its
/// results. Gives the code that the dispatch's own function would return.
mlir::FailureOr<mlir::Value> emitPart(mlir::OpBuilder &builder, mlir::func::FuncOp function,
                                      kernel::DispatchOp dispatch, llvm::ArrayRef<mlir::Value> buffers,
                                      const CpuArch &target, mlir::ModuleOp module);

/// Adds to the number of the operation in a status that a part has written: numbers go on from part to part.
void shiftOperationNumber(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value status, int32_t base);

} // namespace sprig::cpu
