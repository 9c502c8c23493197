// Dispatches that hold a single operation on region arguments, and shapes seen as [outer, axis, inner]. For the scans,
// sorts, scatters and copies of every target.
#pragma once
#include "dialects/Kernel/KernelDispatch.h"

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

} // namespace sprig
