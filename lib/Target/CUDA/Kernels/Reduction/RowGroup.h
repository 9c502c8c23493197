// What the row emitter knows of a dispatch before it emits: which dimensions are reduced, in how many passes over a row
// its values are computed, and how the threads of a block share rows. All of it follows from shapes alone.
//
// A row is the set of positions that a result element is reduced over. Its elements, numbered in row-major order, are
// dealt to `parts` threads in turn: thread p takes p, p + parts, ... in ascending order. The partial results are then
// combined: those of an innermost dimension by a tree (inside of warps, then over them), others in ascending order.
#pragma once
#include "dialects/Kernel/KernelDispatch.h"
#include "dialects/NN/NNReduction.h"
#include "lib/Target/CUDA/Kernels/KernelEmitter.h"
#include "llvm/ADT/DenseMap.h"

namespace sprig::cuda {

/// Rows that are no innermost dimension are a chain each up to this many elements.
inline constexpr int64_t kLongestLoneRow = 63;

class RowGroup {
public:
  /// Fails for a dispatch without a reduction, or of operations that its evaluator does not know.
  static std::optional<RowGroup> analyze(kernel::DispatchOp dispatch);
  /// Of operations in program order.
  static std::optional<RowGroup> analyze(llvm::ArrayRef<mlir::Operation *> ops, mlir::ValueRange yielded);

  llvm::SmallVector<mlir::Operation *> ops; // in program order
  llvm::SmallVector<mlir::Value> yielded;
  llvm::SmallVector<int64_t> shape; // that the reductions share
  llvm::SmallVector<ir::ReduceOp> reductions;
  llvm::SmallVector<int64_t> keptDims, reducedDims;
  int64_t rows = 1, length = 1; // kept positions, and reduced ones of each
  int64_t levels = 0;           // reductions of level i need those below i

  int64_t parts = 1;                       // threads that share a row
  static constexpr int64_t kThreads = 256; // of a block
  /// Whether the threads of a row are neighbours, rather than those of a position in different rows.
  bool alongRows = false;
  int64_t rowsPerBlock() const { return kThreads / parts; }
  /// Whether threads meet others that have another row.
  bool threadsMeet() const { return parts > 1 && (!alongRows || parts < CudaArch::kWarp); }

  /// The highest level of a reduction that a value needs, or -1.
  int64_t levelNeeded(mlir::Value value) const;
  /// Whether a value has one element a row.
  bool isRow(mlir::Value value) const;
  GpuPlan plan() const;

private:
  bool collect();
  void chooseParts();
  llvm::DenseMap<mlir::Value, int64_t> levelOf;
};

} // namespace sprig::cuda
