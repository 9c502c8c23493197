// Helpers of emitters whose dispatch holds a single operation on region arguments, seen as [outer, axis, inner].
// For the scans, sorts, scatters and copies.
#pragma once
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/CPU/Kernels/Builder/TileRanges.h"
#include "lib/Target/CPU/Kernels/Elementwise/LoopGroup.h"

namespace sprig {

/// The only operation of a dispatch, if it is an OpT on region arguments whose results are yielded in order.
template <typename OpT> OpT singleOp(kernel::DispatchOp dispatch) {
  mlir::Block &body = dispatch->getRegion(0).front();
  if (!llvm::hasSingleElement(body.without_terminator())) return nullptr;
  auto op = llvm::dyn_cast<OpT>(body.front());
  if (!op || mlir::ValueRange(body.getTerminator()->getOperands()) != mlir::ValueRange(op->getResults()))
    return nullptr;
  for (mlir::Value operand : op->getOperands())
    if (!llvm::isa<mlir::BlockArgument>(operand)) return nullptr;
  return op;
}

/// A shape cut at an axis.
struct AxisView {
  int64_t outer = 1, length = 1, inner = 1;
  AxisView(llvm::ArrayRef<int64_t> shape, int64_t axis) : length(shape[axis]) {
    for (int64_t size : shape.take_front(axis)) outer *= size;
    for (int64_t size : shape.drop_front(axis + 1)) inner *= size;
  }
};

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

/// Whether a precedes b: larger (or smaller) first, NaN counting as larger than every number.
mlir::Value precedes(KernelBuilder &kernel, mlir::Type elementType, bool largest, mlir::Value a, mlir::Value b);

/// Ordered comparison of compute values: a > b, or a < b, or (with `orEqual`) equal too.
mlir::Value isBeyond(KernelBuilder &kernel, mlir::Type elementType, bool larger, bool orEqual, mlir::Value a,
                     mlir::Value b);
mlir::Value isNan(KernelBuilder &kernel, mlir::Value value);

} // namespace sprig
