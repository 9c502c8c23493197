// The loops of a LoopGroup: over its tiles, or over rows that another part of the same kernel has left in scratch
// memory. For the emitters of loops and of attention. LoopNest.cpp has the walk over positions, RowBlock.cpp rows in
// blocks, ColumnSums.cpp reductions down columns.
#pragma once
#include "dialects/NN/NNReduction.h"
#include "lib/Target/CPU/Kernels/Elementwise/LoopEvaluator.h"
#include "lib/Target/Kernels/ReductionSteps.h"

namespace sprig::cpu {

class LoopNest {
public:
  LoopNest(KernelBuilder &kernel, const LoopGroup &group);

  /// All of the tiles that the kernel is called for.
  void emit();

  /// Multiples of kLanes, of columns that count: other whole vectors change no reduction. Null: all of them do.
  struct Columns {
    mlir::Value begin, end;
  };
  /// `count` rows from the `first` of all on; of a group of analyzeRows. They do not cross a dimension's end. Rows of
  /// `root` lie in `source`, which is of such rows; those of the only result go to `target`, which may be the same.
  void emitRows(mlir::Value first, int64_t count, mlir::Value root, LoopEvaluator::Rows source,
                LoopEvaluator::Rows target, Columns columns);

private:
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)>;

  void innerRun(mlir::Value tile);
  void vectorsAt(mlir::Value i, int64_t count);
  void columnSums(mlir::Value i, int64_t count);
  llvm::SmallVector<unsigned> fullResults() const;
  int64_t chooseUnroll() const;
  void row();
  void defineRowValues(int64_t level);
  Position rowOnly();
  void reducePass(int64_t level);
  void keepValues(int64_t level);
  /// The pass that can compute a kept value first.
  int64_t firstPass(mlir::Value value) const { return group.levelNeeded(value) + 1; }
  void forReduced(llvm::function_ref<void(mlir::Value)> body);
  llvm::SmallVector<mlir::Value> forReduced(mlir::ValueRange initial, llvm::ArrayRef<int64_t> runs, Body body);
  llvm::SmallVector<mlir::Value> reduceColumns(llvm::ArrayRef<ir::ReduceOp> reductions, int64_t count,
                                               llvm::function_ref<void(int64_t)> enter,
                                               llvm::function_ref<void()> visit);
  llvm::SmallVector<mlir::Value> reducePlaces(llvm::ArrayRef<ir::ReduceOp> reductions, int64_t count,
                                              llvm::function_ref<void(int64_t)> enter,
                                              llvm::function_ref<void()> visit);
  llvm::SmallVector<ir::ReduceOp> reductionsOf(int64_t level) const;
  mlir::Value step(ir::ReduceOp reduce, mlir::Value accumulator);
  void storeRow(unsigned result);
  void store(llvm::ArrayRef<unsigned> results);
  mlir::Value offsetOfPosition();

  // Rows in blocks.
  void rowBlock(mlir::Value first, int64_t rows);
  void defineBlockRows(mlir::Value first, int64_t rows, int64_t level);
  void defineRow(mlir::Value row, mlir::Value computed, int64_t rows);
  void reduceBlock(mlir::Value first, int64_t rows, int64_t level);
  void storeBlock(mlir::Value first, int64_t rows);
  void enterRow(mlir::Value first, mlir::Value row);
  void forRows(int64_t rows, int64_t together, llvm::function_ref<void(llvm::ArrayRef<mlir::Value>)> body);
  llvm::SmallVector<mlir::Value> forVectors(mlir::ValueRange initial, Body body);
  int64_t rowLength() const { return group.runs.back().size; }
  mlir::Value slotBuffer(mlir::Value row);

  KernelBuilder &k;
  const LoopGroup &group;
  LoopEvaluator evaluator;
  Position position; // of the iteration space, in runs
  llvm::SmallVector<int64_t> keptRuns, reducedRuns;
  llvm::ArrayRef<mlir::Value> yielded;
  int64_t laneRun = -1;                      // the run that vectors lie along, or blocks of rows
  std::optional<LoopEvaluator::Rows> target; // of the only result
  Columns columns;                           // of emitRows; null: all
};

} // namespace sprig::cpu
