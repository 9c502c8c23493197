// The passes of threads over their rows (RowGroup.h): one for each level of reductions, and those of the caller. For
// the emitters of rows and of attention, which say where a thread's row is and what becomes of its elements.
#pragma once
#include "lib/Target/CUDA/Kernels/Elements/GpuEvaluator.h"
#include "lib/Target/CUDA/Kernels/Reduction/RowGroup.h"
#include "llvm/Support/MathExtras.h"

namespace sprig::cuda {

class RowPasses {
public:
  /// So many threads share a row: one for each of its parts; or, of neighbours, fewer, each with several parts: a warp
  /// or less, or all of the block. What is shared of a row changes no bit.
  RowPasses(GpuBuilder &kernel, const RowGroup &group, GpuEvaluator &evaluator, int64_t threads)
      : k(kernel), group(group), evaluator(evaluator), threads(threads) {
    for (int64_t d : group.reducedDims) reducedSizes.push_back(group.shape[d]);
  }

  /// The thread's row, and its number among those that share it.
  void enter(mlir::ValueRange kept, mlir::Value part);
  /// All reductions, and the elementwise values of a row: the evaluator knows them then. All threads of the row come,
  /// of shorter rows all of the warp.
  void reduce();

  /// Calls `body` at the thread's elements of the row. Where an element may not be there, `valid` says whether it is,
  /// and `position` is that of the thread's first one.
  void forElements(llvm::function_ref<void(mlir::Value valid)> body);
  /// Whether all of a thread's elements of a row have registers.
  bool isStaged() const { return rounds() <= 8; }

  Position position, rowOnly; // of the element at hand; of values of a row

private:
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value valid, mlir::ValueRange carried)>;
  struct Place {
    llvm::SmallVector<mlir::Value> indices; // of the reduced dimensions
    mlir::Value valid;
  };

  int64_t rounds() const { return llvm::divideCeil(group.length, threads); }
  int64_t partsOfThread() const { return group.parts / threads; }
  // In ascending order, `count` values of `carried` for each of the thread's parts.
  llvm::SmallVector<mlir::Value> forElements(mlir::ValueRange initial, int64_t parts, Body body);
  Place placeOf(int64_t round);
  void enterElement(mlir::Value i);
  void reduceLevel(int64_t level);
  void combine(llvm::ArrayRef<ir::ReduceOp> reductions, llvm::SmallVectorImpl<mlir::Value> &totals);
  void defineRowValues(int64_t level);

  GpuBuilder &k;
  const RowGroup &group;
  GpuEvaluator &evaluator;
  const int64_t threads;
  llvm::SmallVector<int64_t> reducedSizes;
  mlir::Value part;
  llvm::SmallVector<Place> places;
};

} // namespace sprig::cuda
