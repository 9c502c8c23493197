// What the loop emitter knows of a dispatch before it emits: the iteration space, which of its dimensions run together,
// which are reduced, and in how many passes over a row its values are computed.
// For LoopEmitter and LoopEvaluator. All of it follows from shapes alone.
#pragma once
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/CPU/Kernels/Builder/KernelBuilder.h"
#include "lib/Target/CPU/Kernels/Builder/TileRanges.h"
#include "lib/Target/Kernels/LoopSpace.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

namespace sprig::cpu {

/// A run of neighbouring dimensions that every value has whole or not at all: one loop.
struct DimRun {
  int64_t begin, end; // dimensions [begin, end) of the iteration space
  int64_t size;
  bool reduced;
};

class LoopGroup {
public:
  /// Fails for a dispatch that is not made of operations that the evaluator knows.
  static std::optional<LoopGroup> analyze(kernel::DispatchOp dispatch);
  /// A part of a dispatch: operations that reduce along the innermost dimension, on values that something else leaves
  /// in scratch memory row by row. Its own scratch memory begins at `scratchBegin`.
  static std::optional<LoopGroup> analyzeRows(kernel::DispatchOp dispatch, llvm::ArrayRef<mlir::Operation *> ops,
                                              llvm::ArrayRef<mlir::Value> yielded, int64_t scratchBegin);

  kernel::DispatchOp dispatch;
  llvm::SmallVector<mlir::Operation *> ops; // in program order
  llvm::SmallVector<mlir::Value> yielded;
  llvm::SmallVector<int64_t> shape; // the iteration space
  llvm::SmallVector<DimRun> runs;   // its dimensions, outermost first
  bool merged = false;              // whether positions count runs rather than each value's own dimensions
  bool innerReduced = false;        // lanes are neighbours of one row, rather than rows side by side
  int64_t lanes = kLanes;           // 1: scalar loops
  bool partials = false;            // sums down columns, some with partial accumulators (dialects/NN/ReduceOrder.h)
  llvm::SmallVector<ir::ReduceOp> reductions;
  int64_t levels = 0; // reductions of level i need those below i
  llvm::DenseMap<mlir::Value, int64_t> levelOf;
  /// Values of a whole row that a pass leaves for later ones in scratch memory: the byte offset of each.
  llvm::MapVector<mlir::Value, int64_t> kept;
  int64_t scratchBytes = 0; // the end of the scratch memory in use
  /// Rows that are reduced together, so that the trees over their partial results and the arithmetic on one value a row
  /// are vectors of rows; 0: one row at a time.
  int64_t blockRows = 0;
  /// One value a row, for each row of a block: the byte offset in scratch memory of those that whole rows need.
  llvm::MapVector<mlir::Value, int64_t> rowSlots;
  int64_t partialsOffset = 0; // of the partial results of a block: kLanes vectors for each reduction of a level

  /// Whether an operation is a member; any other value is a leaf.
  bool contains(mlir::Operation *op) const { return op && members.contains(op); }
  /// Elements between consecutive rows of a block in scratch memory.
  int64_t keptStride() const { return (reducedCount() + kLanes - 1) / kLanes * kLanes; }

  /// A value's shape as positions count it.
  llvm::SmallVector<int64_t> positionShape(mlir::Value value) const;
  /// Which of a position's coordinates runs along the axis of an iota.
  size_t coordinateOf(ir::IotaOp iota) const;
  /// Whether a value is constant along the reduced dimensions, that is, one per row.
  bool isRow(mlir::Value value) const;
  /// Whether one pass over a row is enough: what the group gives for each element needs no reduction.
  bool isSinglePass() const;
  /// Whether that pass goes down columns side by side: sums of columns, and what is made of them.
  bool reducesColumns() const;
  /// The highest level of a reduction that a value needs, or -1.
  int64_t levelNeeded(mlir::Value value) const;
  /// Elements of a row, and rows.
  int64_t reducedCount() const, keptCount() const;

  /// The tiles: `innerTiles` cuts of `innerChunk` elements along the innermost run, where that is kept, times blocks of
  /// `outerChunk` positions of the other kept runs. A #kernel.loop_tile of the dispatch gives
  /// innerChunk.
  int64_t innerSize = 1, innerChunk = 1, innerTiles = 1, outerSize = 1, outerChunk = 1, outerTiles = 1;
  KernelPlan plan() const;
  /// KernelPlan::ranges.
  llvm::SmallVector<TileRange> tileRanges() const;

  /// Whether a result may take the place of an operand of its type (Target::mayOverwrite).
  bool mayOverwrite(unsigned result) const;

private:
  bool collect();
  void chooseRuns();
  bool countsAlone(ir::IotaOp iota, int64_t begin, int64_t end) const;
  bool lanesAllowed(mlir::Value value, llvm::SmallVector<bool> laneDims) const;
  bool chooseBlocks(bool always);
  void keepRows();
  void chooseTiles();
  int64_t innerRun() const;
  llvm::SmallVector<TileStep> stepsOf(llvm::ArrayRef<int64_t> sizes) const;
  bool isElementwise() const;
  int64_t flops = 0;
  llvm::DenseSet<mlir::Operation *> members;
};

} // namespace sprig::cpu
