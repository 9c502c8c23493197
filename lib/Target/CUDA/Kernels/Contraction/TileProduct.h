// Products of matrices by tiles: a block computes a tile of the result from slices of both sides in shared memory, a
// thread some rows times some columns of it in registers. For the emitters of contractions, which say what the elements
// of both sides are and what becomes of the sums. Each element is the chain of multiply-adds that docs/numerics.md
// states, whatever the tile.
#pragma once
#include "lib/Target/CUDA/Kernels/Builder/GpuBuilder.h"
#include <functional>

namespace sprig::cuda {

/// What a block and its threads compute, and how many steps of the contracted dimension a slice has.
struct TileShape {
  int64_t rows, columns, depth;
  int64_t threadRows, threadColumns; // of a thread
  int64_t threads;                   // of a block; all of them copy
  /// Steps that follow one another without a branch, of which the last ones may be padding.
  int64_t unrolled() const { return std::min<int64_t>(depth, 32); }
  /// Threads that compute: the first ones.
  int64_t workers() const { return rows / threadRows * (columns / threadColumns); }
};

/// The largest tile that fits the products and of which there are as many as a large GPU has multiprocessors, for a
/// number of products of these sizes, none of which is 0.
TileShape chooseTile(int64_t products, int64_t rows, int64_t columns, int64_t depth);

/// Makes slices shallower where more than an eighth of what they compute would be padding.
void fitSlices(TileShape &tile, int64_t depth);

/// Instructions of a thread for each product that somebody wants, by a model: of tiles that compute `waste` times as
/// many, and of a thread that computes an element on its own.
double instructionsPerProduct(const TileShape &tile, double waste);
inline constexpr double kLoopInstructions = 4;

/// What a side reads of memory, an element or four. What stands for it is put in its place when it comes to shared
/// memory: whatever looked at it before would wait for it.
struct TileElement {
  TileElement(mlir::Value value = {}, mlir::Value isThere = {}, mlir::Value isStep = {})
      : value(value), isThere(isThere), isStep(isStep) {}
  mlir::Value value;
  mlir::Value isThere; ///< else it is absent (TileSide::presence), whose mark stands for it; null: it is there
  mlir::Value isStep;  ///< else padding does, which changes no chain; null: it is one
};

/// A side of a product: an element for each place, which is a row of the left side or a column of the right one, and
/// each step.
struct TileSide {
  int64_t places;    // of the whole matrix
  mlir::Value first; // of the tile's
  /// What lies side by side in memory, and so in shared memory.
  enum { Steps, Places } inner;
  /// Whether four neighbours are read at once, of four that begin at a multiple of four.
  bool isWide;
  /// The element, or the four from there on, of a place and a step that the matrix has.
  std::function<TileElement(mlir::Value place, mlir::Value step)> read = nullptr;
  /// In its place, where elements are what global memory has: this one, flat, and where in it. They are copied without
  /// passing registers, several slices ahead.
  mlir::Value buffer = nullptr;
  std::function<mlir::Value(mlir::Value place, mlir::Value step)> at = nullptr;
  /// Called with a slice's first step before its elements are read.
  std::function<void(mlir::Value begin)> enter = nullptr;
  /// Neighbouring places that a thread has, if it has as many.
  int64_t together = 4;
  /// Of the right side: how many steps, from a multiple on, a column has or lacks as one: 1, 4, or a slice and more; 0
  /// where all columns have all steps. What it lacks is no part of its chains (TileElement::isThere).
  int64_t presence = 0;
  /// Where its slices lie in shared memory (sliceElements); null: in memory of their own.
  mlir::Value memory = nullptr;
  /// Of a left side that is in `memory` as a whole: how many elements a place of the tile has there, step by step. A
  /// multiple of four; with -0 for steps that are not there, as far as slices go. Nothing is copied then.
  int64_t wholeStride = 0;
};

class TileProduct {
public:
  /// Sums of more than `longestChain` products are cut into the parts that a long matrix product has.
  TileProduct(GpuBuilder &kernel, const TileShape &shape, int64_t depth, TileSide left, TileSide right,
              int64_t longestChain = kLongestChain);

  /// Of the slices of a side with so many places in the tile.
  static int64_t sliceElements(const TileShape &shape, int64_t depth, int64_t places) {
    return (depth > shape.depth ? 2 : 1) * places * shape.depth;
  }

  /// The steps that the block takes, if they are fewer than the depth; for chains that are not cut.
  void endAt(mlir::Value steps) { end = steps; }
  /// One of the chains that a long sum is cut into, rather than their sum.
  void onlyPart(mlir::Value number) { part = number; }

  /// Calls `body` for the thread's sums, of threads that have any: row by row, each with its columns. A barrier has to
  /// come before the next product.
  void emit(llvm::function_ref<void(mlir::ValueRange sums)> body);

  /// Neighbouring columns that a thread has.
  int64_t neighbours() const { return right.groupWidth; }
  /// The row or column, counted in the whole matrix, of a thread's i-th; whether it exists, null where all do.
  mlir::Value row(int64_t i) { return k.add(left.first, left.placeOf(k, left.thread, i)); }
  mlir::Value column(int64_t i) { return k.add(right.first, right.placeOf(k, right.thread, i)); }
  mlir::Value exists(mlir::Value row, mlir::Value column);

private:
  // A side, with its slices in shared memory: two, which take turns. Where steps are inner, these are rows of steps,
  // one for each slot, in groups of four whose order depends on the slot: so neither who writes neighbouring steps nor
  // who reads one step of neighbouring slots meets others at a bank. Else they are rows of places, one for each step,
  // in which up to four of a thread lie side by side.
  struct Slices : TileSide {
    int64_t tile, own;   // places of the block and of a thread
    int64_t groupWidth;  // neighbouring places of a thread
    int64_t laidWidth;   // of a thread's that lie side by side, where places are inner
    int64_t threadCount; // threads that share the tile's places
    int64_t depth;       // steps
    double padding;      // in place of steps that are not there
    mlir::Value shared, thread;

    int64_t size() const { return tile * depth; }
    // A thread's i-th place in the tile: groups of neighbours, each beside those of the other threads.
    mlir::Value placeOf(ElementBuilder &k, mlir::Value thread, int64_t i) const;
    // Where it lies in a row of places, and a place of the tile.
    mlir::Value laidOf(ElementBuilder &k, mlir::Value thread, int64_t i) const;
    mlir::Value laid(ElementBuilder &k, mlir::Value place) const;
    // The slot of a thread's i-th place is i * threadCount + thread.
    mlir::Value placeOfSlot(ElementBuilder &k, mlir::Value slot) const;
    mlir::Value quad(ElementBuilder &k, mlir::Value slot, mlir::Value quad) const;
  };
  struct Unit {
    mlir::Value place, step, at; // in the tile; in shared memory
  };

  Slices slices(TileSide side, int64_t tile, int64_t own, double padding);
  void allocate(Slices &side);
  int64_t unitsOf(const Slices &side) const { return side.size() / (side.isWide ? 4 : 1); }
  Unit unit(const Slices &side, mlir::Value i);
  void forUnits(const Slices &side, llvm::function_ref<void(mlir::Value i, mlir::Value exists)> body);
  void copySlice(const Slices &side, mlir::Value begin);
  void copySlices(mlir::Value begin);
  // What is on its way to shared memory: of both sides, unit by unit.
  using Fetched = llvm::SmallVector<TileElement>;
  Fetched fetchedIf(mlir::Value condition, llvm::function_ref<Fetched()> read);
  void fetch(const Slices &side, mlir::Value begin, Fetched &fetched);
  void put(const Slices &side, mlir::Value begin, llvm::ArrayRef<TileElement> &fetched);
  TileElement readUnit(const Slices &side, const Unit &unit, mlir::Value begin);
  mlir::Value finished(const Slices &side, const TileElement &element);
  Fetched fetchBoth(mlir::Value begin);
  void putBoth(mlir::Value begin, llvm::ArrayRef<TileElement> fetched);
  llvm::SmallVector<mlir::Value> readFour(const Slices &side, mlir::Value begin, int64_t step);
  llvm::SmallVector<mlir::Value> multiply(mlir::Value begin, int64_t most, mlir::Value steps, mlir::ValueRange chains);
  llvm::SmallVector<mlir::Value> chains(mlir::Value begin, mlir::Value end, std::optional<int64_t> count);
  llvm::SmallVector<mlir::Value> sums();
  bool isCopied(const Slices &side) const { return side.at && areCopied; }
  bool isFetched(const Slices &side) const { return !side.wholeStride && !isCopied(side); }
  // Where the slice that begins at a step is in the side's memory.
  mlir::Value sliceAt(const Slices &side, mlir::Value begin) {
    return k.mul(k.rem(k.div(begin, shape.depth), stages), side.size());
  }
  llvm::SmallVector<mlir::Value> either(mlir::Value condition,
                                        llvm::function_ref<llvm::SmallVector<mlir::Value>()> then,
                                        llvm::function_ref<llvm::SmallVector<mlir::Value>()> otherwise);
  llvm::SmallVector<mlir::Value> valuesIf(mlir::Value condition,
                                          llvm::function_ref<llvm::SmallVector<mlir::Value>()> then,
                                          mlir::ValueRange otherwise);
  mlir::Value isBelow(mlir::Value index, mlir::Value bound);

  GpuBuilder &k;
  const TileShape shape;
  const int64_t depth, longestChain;
  const mlir::Type f32;
  Slices left, right;
  mlir::Value end, part;
  bool areCopied = false; // sides that say where their elements are
  int64_t stages = 2;     // slices that are in shared memory at one time
};

} // namespace sprig::cuda
