// Products of matrices on tensor cores, in tf32: a block computes a tile of the result from slices of both sides in
// shared memory, a warp a part of it by mma.sync. Copies of the next slices are on their way meanwhile (cp.async). For
// the emitters of contractions, which say where the elements of both sides are and what becomes of the sums. The order
// of additions is docs/numerics.md's, whatever the tile.
#pragma once
#include "lib/Target/CUDA/Kernels/Builder/GpuBuilder.h"
#include <functional>

namespace sprig::cuda {

/// What a block and each of its warps compute, and how many steps of the contracted dimension a slice has. Of a warp
/// multiples of 16.
struct MmaShape {
  int64_t rows, columns, depth;
  int64_t warpRows, warpColumns;
  int64_t threads() const { return rows / warpRows * (columns / warpColumns) * kWarp; }
};

/// The largest tile that fits the products and of which there are as many as a large GPU has multiprocessors, for a
/// number of products of these sizes.
MmaShape chooseMmaShape(int64_t products, int64_t rows, int64_t columns);

/// Whether products of these sizes are: of few rows or columns most of a tile would be padding, and memory is what they
/// wait for.
bool isWorthMma(int64_t rows, int64_t columns);

/// Instructions of a thread for each product that somebody wants, by a model, of tiles that compute `waste` times as
/// many.
double instructionsPerProduct(const MmaShape &shape, double waste);

/// An element of a side in memory: where, and whether it is there (null: it is). In place of others come zeros.
struct MmaElement {
  mlir::Value at, isThere = {};
};

/// A side of a product: an element for each place, which is a row of the left side or a column of the right one, and
/// each step.
struct MmaSide {
  int64_t places;    // of the whole matrix
  mlir::Value first; // of the tile's
  /// Whether steps lie side by side in memory, and so in shared memory; else places do.
  bool stepsInner;
  /// Whether four neighbours are copied at once, of four that begin at a multiple of four.
  bool isWide;
  mlir::Value buffer; // flat
  /// The element, or the first of four, of a place and a step, which may both be beyond the matrix.
  std::function<MmaElement(mlir::Value place, mlir::Value step)> at;
  /// Called with a slice's first step before its elements are copied.
  std::function<void(mlir::Value begin)> enter = nullptr;
};

class MmaProduct {
public:
  MmaProduct(GpuBuilder &kernel, const MmaShape &shape, int64_t depth, MmaSide left, MmaSide right);

  /// The steps that the block takes, if they are fewer than the depth. Sides tell which elements are beyond them.
  void endAt(mlir::Value steps);
  /// The sums of one of the parts alone that a long sum is cut into.
  void onlyPart(mlir::Value part);

  /// Calls `body` for each pair of sums that a thread has: of a row, and of a column, which is even, and the next one.
  /// Either may be beyond the matrix. A barrier has to come before the next product.
  void emit(llvm::function_ref<void(mlir::Value row, mlir::Value column, mlir::ValueRange sums)> body);

  /// Whether a row and a column exist, null where all do.
  mlir::Value exists(mlir::Value row, mlir::Value column);

private:
  // A side, with its slices in shared memory: rows of steps, one for each place, in groups of four whose order depends
  // on the place; or rows of places, one for each step, in groups of eight whose order depends on the step. So neither
  // who copies neighbours nor who reads a part of a matrix meets others at a bank.
  struct Slices : MmaSide {
    int64_t tile, own; // places of the block and of a warp
    int64_t begin;     // in a stage
    bool placesFirst;  // of four matrices: the second has other places, else other steps, as the instruction takes them
    mlir::Value warp;  // the warp's first place in the tile
    // Where the lane reads, but for the place and the step: how far on, and what the group's number is combined with.
    mlir::Value laneAt, laneTurn;
  };
  struct Unit {
    mlir::Value place, step, at; // in the tile; in shared memory
  };

  Slices slices(MmaSide side, int64_t tile, int64_t own, int64_t begin, bool placesFirst, mlir::Value warp);
  mlir::Value turnOfPlace(mlir::Value place);
  mlir::Value turnOfStep(const Slices &side, mlir::Value step);
  Unit unit(const Slices &side, mlir::Value i);
  void copy(const Slices &side, mlir::Value firstStep, mlir::Value stage);
  void copySlice(mlir::Value slice);
  llvm::SmallVector<mlir::Value, 4> readMatrices(const Slices &side, mlir::Value stage, int64_t place, int64_t step);
  mlir::Value multiplyAdd(llvm::ArrayRef<mlir::Value> left, llvm::ArrayRef<mlir::Value> right, mlir::ValueRange sums);
  llvm::SmallVector<mlir::Value> multiplySlice(mlir::Value stage, mlir::ValueRange chains);
  llvm::SmallVector<mlir::Value> chains(mlir::Value begin, mlir::Value end);
  llvm::SmallVector<mlir::Value> sums();
  int64_t stageSize() const { return (shape.rows + shape.columns) * shape.depth; }
  mlir::Value stageOf(mlir::Value slice) { return k.mul(k.rem(slice, stages), stageSize()); }
  mlir::Value xorOf(mlir::Value a, mlir::Value b) { return mlir::arith::XOrIOp::create(k.b, k.loc, a, b); }
  mlir::Value isBelow(mlir::Value index, mlir::Value bound);
  mlir::Value isBelow(mlir::Value index, int64_t bound) { return isBelow(index, k.index(bound)); }
  mlir::Value both(mlir::Value a, mlir::Value b);

  GpuBuilder &k;
  const MmaShape shape;
  const int64_t depth, sliceCount, stages;
  const mlir::Type f32;
  mlir::Value shared, group, inGroup; // a lane is the inGroup-th of a group of four
  Slices left, right;
  mlir::Value begin, end; // slices of the block
  bool isPart = false;
};

} // namespace sprig::cuda
