// Emitters of dispatches that hold one operation, on region arguments, whose work is a number of independent items: a
// thread does one. For scans, sorts, copies and scatters.
#pragma once
#include "lib/Target/CUDA/Kernels/Builder/GpuBuilder.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"
#include "lib/Target/Kernels/SingleOp.h"
#include "llvm/Support/MathExtras.h"

namespace sprig::cuda {

template <typename OpT> class SliceEmitter : public GpuEmitter {
public:
  llvm::StringRef name() const override { return OpT::getOperationName().split('.').second; }
  bool matches(kernel::DispatchOp dispatch) const override { return singleOp<OpT>(dispatch) != nullptr; }
  GpuPlan plan(kernel::DispatchOp dispatch) const override {
    GpuPlan plan;
    plan.tiles = llvm::divideCeil(items(singleOp<OpT>(dispatch)), plan.threads);
    return plan;
  }
  mlir::LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &k, mlir::Value tile) const override {
    auto op = singleOp<OpT>(dispatch);
    k.forThreads(tile, items(op), /*perThread=*/1, [&](mlir::Value item) { emitItem(op, k, item); });
    return mlir::success();
  }

protected:
  virtual int64_t items(OpT op) const = 0;
  virtual void emitItem(OpT op, GpuBuilder &k, mlir::Value item) const = 0;

  static int64_t countOf(mlir::Value value) {
    return llvm::cast<mlir::RankedTensorType>(value.getType()).getNumElements();
  }
};

} // namespace sprig::cuda
