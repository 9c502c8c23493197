// The elementwise operations that follow a contraction inside its dispatch, applied to accumulators before the store.
// For the contraction emitters. Everything in an epilogue comes after the finished chain of multiply-adds, so the bits
// are those of the separate operations.
#pragma once
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/CPU/Kernels/Builder/KernelEmitter.h"
#include "lib/Target/CPU/Kernels/Builder/TileRanges.h"
#include "lib/Target/CPU/Kernels/Contraction/RegisterTile.h"
#include "llvm/ADT/DenseMap.h"

namespace sprig::cpu {

class Epilogue {
public:
  /// Whether an operation may follow a root: a splat or an elementwise operation that broadcasts to the root's shape
  /// and needs no check at run time, as integer division does. One rule for fusion and for `analyze`.
  static bool takes(mlir::Operation *op, mlir::Operation *root);
  /// Whether a value may be a result: it has the root's shape.
  static bool mayYield(mlir::Value value, mlir::Operation *root);

  /// A dispatch of one operation that `isRoot` accepts, and of operations that it takes; it yields what it may.
  static std::optional<Epilogue> analyze(kernel::DispatchOp dispatch,
                                         llvm::function_ref<bool(mlir::Operation *)> isRoot);

  /// Whether a kernel may write its result over an operand that only operations behind the root read.
  static bool mayOverwrite(kernel::DispatchOp dispatch, unsigned operand);

  mlir::Operation *root = nullptr;
  mlir::RankedTensorType rootType; // [rows..., columns]

  /// Sees the root's result as a matrix, its first `rowDims` dimensions as rows and the others as columns, whatever
  /// their sizes. For roots of filter gradients, whose operands are as large as the result or a single element.
  void flatten(int64_t rowDims);
  /// Sees a root of a single column without it: columns are what its last but one dimension has.
  void dropUnitColumns();
  bool hasUnitColumns = false; ///< operands have a last dimension, of 1, beyond rootType's

  /// Leaves what is added to sums of integers column by column, right behind them, to initialTile: they wrap, so that
  /// it may come first. For emitters that begin with those.
  void beginWithBias();
  /// Accumulators to begin with, rows outermost, of these lanes; columns and masks are those of `store`.
  llvm::SmallVector<mlir::Value> initialTile(KernelBuilder &kernel, int64_t rows, mlir::ValueRange columns,
                                             llvm::ArrayRef<mlir::Value> masks, llvm::ArrayRef<int64_t> lanes) const;

  /// Writes accumulators, vectors of columns: `accumulators[i * columns.size() + j]` belongs to row `rows[i]` (the
  /// row-major position over all dimensions but the last) and to the columns from `columns[j]` on; `masks[j]` may be
  /// null for all lanes.
  void store(KernelBuilder &kernel, mlir::ValueRange accumulators, mlir::ValueRange rows, mlir::ValueRange columns,
             llvm::ArrayRef<mlir::Value> masks) const;

  /// The same for rows that follow `row`; masks[j] as above. A long epilogue is a loop over the rows rather than all of
  /// them spelled out, so that accumulators do not hold its registers and the code stays small; they wait in
  /// stageBytes() of scratch memory at byte `stage` (a multiple of 64).
  void storeRows(KernelBuilder &kernel, mlir::ValueRange accumulators, mlir::Value row, mlir::ValueRange columns,
                 llvm::ArrayRef<mlir::Value> masks, int64_t stage) const;
  int64_t stageBytes() const;
  /// Whether a polynomial or more is computed for each element.
  bool hasFunctions() const;

  /// The same for `count` rows whose sums are in memory: row i of the result is `row` + i * `distance`, its sums lie in
  /// `sums` from (firstSum + i) * kPanelWidth on, and what initialTile() begins with is added, and what `rest` adds to
  /// the accumulators of some rows from i on. A loop over the rows.
  struct Sums {
    mlir::Value sums, firstSum, count, row;
    int64_t distance = 1;
    llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value i, int64_t rows, mlir::ValueRange)> rest = nullptr;
  };
  void storeSums(KernelBuilder &kernel, const Sums &from, mlir::ValueRange columns, llvm::ArrayRef<mlir::Value> masks,
                 llvm::ArrayRef<int64_t> lanes) const;

  /// KernelPlan::ranges where tiles count the places of `space`, store `result` and read `operandSteps(i)` of the
  /// root's operand i; no steps: any of it.
  llvm::SmallVector<TileRange> tileRanges(llvm::ArrayRef<int64_t> space, llvm::ArrayRef<TileStep> result,
                                          llvm::function_ref<llvm::SmallVector<TileStep>(unsigned)> operandSteps) const;

  /// What `store` will read of whole tensors, for rows that follow `row` and the columns [column, column + columns);
  /// nothing where all of it is near the core anyway. Results are not fetched: large ones mostly take operands' places.
  std::optional<EpilogueFetch> fetch(KernelBuilder &kernel, mlir::Value row, mlir::Value column, int64_t columns) const;

private:
  bool isLong() const;
  mlir::Operation *start() const { return begun.empty() ? root : begun.back(); }

  llvm::SmallVector<mlir::Operation *> operations;
  llvm::SmallVector<mlir::Operation *> begun; ///< what accumulators begin with; the last one's result is what they hold
};

/// Emits contractions of a type, each with its epilogue.
template <typename OpT> class ContractionEmitter : public KernelEmitter {
public:
  llvm::StringRef name() const override { return OpT::getOperationName().split('.').second; }
  bool matches(kernel::DispatchOp dispatch) const override { return analyze(dispatch).has_value(); }
  KernelPlan plan(kernel::DispatchOp dispatch) const override {
    Epilogue epilogue = *analyze(dispatch);
    return planOf(llvm::cast<OpT>(epilogue.root), epilogue);
  }
  bool mayOverwrite(kernel::DispatchOp dispatch, unsigned operand, unsigned) const override {
    return Epilogue::mayOverwrite(dispatch, operand);
  }
  mlir::LogicalResult emit(kernel::DispatchOp dispatch, KernelBuilder &kernel) const override {
    Epilogue epilogue = *analyze(dispatch);
    emitOp(kernel, llvm::cast<OpT>(epilogue.root), epilogue);
    return mlir::success();
  }

protected:
  virtual std::optional<Epilogue> analyze(kernel::DispatchOp dispatch) const {
    return Epilogue::analyze(dispatch, [](mlir::Operation *op) { return llvm::isa<OpT>(op); });
  }
  virtual KernelPlan planOf(OpT op, const Epilogue &epilogue) const = 0;
  virtual void emitOp(KernelBuilder &kernel, OpT op, Epilogue &epilogue) const = 0;
};

} // namespace sprig::cpu
