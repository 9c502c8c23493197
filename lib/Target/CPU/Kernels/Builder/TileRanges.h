// What each tile of a kernel touches of its buffers (KernelPlan::ranges), for emitters whose tiles are the places of a
// row-major space. All of it follows from shapes alone.
#pragma once
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/Target.h"

namespace sprig::cpu {

/// What tiles touch of a buffer, along one dimension of their space, in elements: those of one place in it and in all
/// dimensions before it touch `extent` of them from `begin` on, and a place further `stride` elements further on.
struct TileStep {
  int64_t stride = 0, begin = 0, extent = 0;
};

class TileRanges {
public:
  /// Tiles count the places of `space`, its last dimension fastest.
  TileRanges(kernel::DispatchOp dispatch, llvm::ArrayRef<int64_t> space) : dispatch(dispatch), space(space) {}

  /// Each use of an operand reads what `stepsOf` says for the dimensions of the space; no steps: any of it.
  void operands(llvm::function_ref<llvm::SmallVector<TileStep>(mlir::OpOperand &use)> stepsOf);
  /// All of the reads of an operand.
  void operand(unsigned index, llvm::ArrayRef<llvm::SmallVector<TileStep>> reads);
  void result(unsigned index, llvm::ArrayRef<TileStep> steps);

  /// In the order of operands. What takes more than three quarters of an operand for each tile is left out.
  llvm::SmallVector<TileRange> take();

private:
  std::optional<TileRange> rangeOf(llvm::ArrayRef<TileStep> steps, mlir::Type tensor) const;

  kernel::DispatchOp dispatch;
  llvm::SmallVector<int64_t> space;
  llvm::SmallVector<TileRange> ranges;
};

} // namespace sprig::cpu
