// Helpers of emitters whose dispatch holds a single operation on region arguments. For the scans, sorts, scatters and
// copies.
#pragma once
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/CPU/Kernels/Builder/KernelBuilder.h"
#include "lib/Target/CPU/Kernels/Builder/KernelEmitter.h"
#include "lib/Target/CPU/Kernels/Builder/TileRanges.h"
#include "lib/Target/Kernels/ElementBuilder.h"
#include "lib/Target/Kernels/ReductionSteps.h"
#include "lib/Target/Kernels/SingleOp.h"

namespace sprig::cpu {

/// Emits dispatches of one operation of a type.
template <typename OpT> class SingleOpEmitter : public KernelEmitter {
public:
  llvm::StringRef name() const override { return OpT::getOperationName().split('.').second; }
  bool matches(kernel::DispatchOp dispatch) const override {
    auto op = singleOp<OpT>(dispatch);
    return op && takes(op);
  }
  KernelPlan plan(kernel::DispatchOp dispatch) const override { return planOf(dispatch, singleOp<OpT>(dispatch)); }
  mlir::LogicalResult emit(kernel::DispatchOp dispatch, KernelBuilder &kernel) const override {
    emitOp(kernel, singleOp<OpT>(dispatch));
    return mlir::success();
  }

protected:
  virtual bool takes(OpT op) const { return true; }
  virtual KernelPlan planOf(kernel::DispatchOp dispatch, OpT op) const = 0;
  virtual void emitOp(KernelBuilder &kernel, OpT op) const = 0;
};

/// The plan of an operation whose tiles are the slices [axis, inner] of its operand and of its results.
KernelPlan planOfSlices(kernel::DispatchOp dispatch, const AxisView &operand);

/// Calls `body(offset, lanes, mask)` for the vectors of [begin, begin + length): whole ones in a loop, then the rest
/// with a mask. `length` is static.
void forVectors(KernelBuilder &kernel, int64_t length,
                llvm::function_ref<void(mlir::Value offset, mlir::Value mask)> body);

/// Copies `length` stored elements.
void copyRow(KernelBuilder &kernel, mlir::Value from, mlir::Value fromOffset, mlir::Value to, mlir::Value toOffset,
             int64_t length);

} // namespace sprig::cpu
