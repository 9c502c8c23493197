// The inner loop of every contraction: a tile of accumulators in registers, one SSA value of kLanes columns each.
// For the matmul and convolution emitters, which decide where rows and columns lie.
#pragma once
#include "dialects/Kernel/Panels.h"
#include "lib/Target/CPU/Kernels/Builder/KernelBuilder.h"
#include <optional>

namespace sprig::cpu {

/// The largest number of rows of a register tile with `vectors` vectors of columns that does not spill and whose rows,
/// `rowStride` elements apart (or 32 bits where they interleave), do not push each other out of the cache; at least 1.
int64_t maxTileRows(const CpuArch &target, mlir::Type elementType, int64_t vectors, int64_t rowStride,
                    int64_t interleave = 1);

/// How many vectors of columns to take at once when there are `rows` rows in all: few rows need more columns to hide
/// the latency of a multiply-add and to use the memory's bandwidth. A power of two, at most 8 (four panels).
int64_t chooseTileVectors(const CpuArch &target, mlir::Type elementType, int64_t rows);

/// What an epilogue will read after the loop, to be fetched meanwhile: for each row i of the tile the elements
/// [base + i * rowStride, base + i * rowStride + columns) of each buffer. A tile's lines lie too far apart for the
/// hardware to foresee them.
struct EpilogueFetch {
  llvm::SmallVector<mlir::Value> buffers; // 1-d
  mlir::Value base;
  int64_t rowStride = 0, columns = 0;
};

/// The operands of one loop over k. Element (i, k) of the left side is at left[leftBase + i * leftRowStride + k *
/// leftStep]; the columns of the right side for vector j, as many as its accumulators have lanes, at right[rightBase +
/// rightOffsets[j] + k * rightStep].
struct ContractionLoop {
  mlir::Value left, leftBase;
  int64_t leftRowStride = 0, leftStep = 1;
  mlir::Value right, rightBase;
  llvm::SmallVector<int64_t> rightOffsets;
  int64_t rightStep = kPanelWidth;
  llvm::SmallVector<mlir::Value> rightMasks; // empty: all lanes of every vector
  mlir::Type elementType;
  mlir::Value count;   // steps of k
  bool isPart = false; // of a chain: never cut, whatever its length
  /// Rows of the right side that lie side by side, of which a step takes all (DotProduct): 4 where the left side is
  /// ui8, the right side i8, and sums are i32; 2 where they are bf16 and sums f32. leftStep and rightStep are still
  /// those of one step. After the last, `tail` more elements, fewer than a step's.
  int64_t interleave = 1, tail = 0;
  bool isWide = false; // the left side, factors of bf16, is there as f32
  void takeSteps(mlir::Value steps, int64_t ofRows, int64_t rest) {
    count = steps;
    interleave = ofRows;
    tail = rest;
    if (ofRows > 1) leftStep = ofRows, rightStep = kPanelWidth * ofRows;
  }
  /// Steps before the one and from the other on have a left side of zeros and are left out; null: none. Chains are cut
  /// where those of all steps are.
  mlir::Value firstStep, endStep;
  std::optional<EpilogueFetch> fetch; // left out where the chain is cut in parts, which hide the misses
};

/// Zero accumulators for a tile, rows outermost: of `vectors` whole vectors, or of vectors of these lanes.
llvm::SmallVector<mlir::Value> zeroTile(KernelBuilder &kernel, mlir::Type elementType, int64_t rows, int64_t vectors);
llvm::SmallVector<mlir::Value> zeroTile(KernelBuilder &kernel, mlir::Type elementType, int64_t rows,
                                        llvm::ArrayRef<int64_t> lanes);

/// The first lanes of a vector.
mlir::Value firstLanes(KernelBuilder &kernel, mlir::Value vector, int64_t lanes);

/// The vectors that hold `columns` columns: of kLanes, and a last one of half as many where that is enough.
llvm::SmallVector<int64_t> vectorLanes(int64_t columns);

/// The mask of the first `valid` of a vector's lanes; null for all of them.
mlir::Value laneMask(KernelBuilder &kernel, int64_t valid, int64_t lanes);

/// The columns of a tile as vectors: their lanes, first columns and masks.
struct TileColumns {
  llvm::SmallVector<int64_t> lanes;
  llvm::SmallVector<mlir::Value> values, masks;
};
/// `vectors` vectors from column `first` on, of which `valid` columns exist.
TileColumns tileColumns(KernelBuilder &kernel, mlir::Value first, int64_t vectors, int64_t valid);

/// Adds the products of all k in ascending order, in parts where a constant count of a whole chain is above
/// kLongestChain; `accumulators` has rows * rightOffsets.size() values, rows outermost.
llvm::SmallVector<mlir::Value> emitContraction(KernelBuilder &kernel, const ContractionLoop &loop,
                                               mlir::ValueRange accumulators);

/// Covers `length` rows by register tiles of at most `most` rows of nearly equal size: `count` tiles of `rows` rows and
/// then `smallerCount` tiles of one row less.
struct RowSplit {
  int64_t rows = 0, count = 0, smallerCount = 0;
};
RowSplit splitRows(int64_t length, int64_t most);

/// Calls `body(first row, rows)` for each tile of a split that starts at row `begin`, inside loops where there are
/// many.
void forRowTiles(KernelBuilder &kernel, mlir::Value begin, RowSplit split,
                 llvm::function_ref<void(mlir::Value first, int64_t rows)> body);

} // namespace sprig::cpu
