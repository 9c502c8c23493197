// Helpers of emitters whose dispatch holds a single operation on region arguments. For the scans, sorts, scatters and
// copies.
#pragma once
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/CPU/Kernels/Builder/TileRanges.h"
#include "lib/Target/CPU/Kernels/Builder/KernelBuilder.h"
#include "lib/Target/Kernels/Comparison.h"
#include "lib/Target/Kernels/ReductionSteps.h"
#include "lib/Target/Kernels/SingleOp.h"

namespace sprig::cpu {

/// The plan of an operation whose tiles are the slices [axis, inner] of its operand and of its results.
KernelPlan planOfSlices(kernel::DispatchOp dispatch, const AxisView &operand);

/// The flat buffer of an operand of the dispatch.
inline mlir::Value flatOperand(KernelBuilder &kernel, mlir::Value argument) {
  return kernel.flat(kernel.operandBuffer(llvm::cast<mlir::BlockArgument>(argument)));
}

/// Calls `body(offset, lanes, mask)` for the vectors of [begin, begin + length): whole ones in a loop, then the rest
/// with a mask. `length` is static.
void forVectors(KernelBuilder &kernel, int64_t length,
                llvm::function_ref<void(mlir::Value offset, mlir::Value mask)> body);

/// Copies `length` stored elements.
void copyRow(KernelBuilder &kernel, mlir::Value from, mlir::Value fromOffset, mlir::Value to, mlir::Value toOffset,
             int64_t length);

} // namespace sprig::cpu
