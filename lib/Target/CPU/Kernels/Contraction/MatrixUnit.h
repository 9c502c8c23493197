// The processor's matrix unit (AMX) for sums of products of bytes: up to 16 rows of 64 unsigned bytes times as many
// rows of signed ones with 16 columns at once, added to sums of i32, which wrap (tdpbusd; Intel's Software Developer's
// Manual, volume 1, chapter 18). For the loops over k of packed products and convolutions; the bits are those of
// DotProduct.
//
// Three things about it are slow, measured on an Emerald Rapids, and decide how kernels use it:
// - A step takes the same time whatever its sizes (as long as four rows of DotProduct's), so that tiles are as large as
//   they may be, and the last one of some rows begins early rather than being small: sums are the same twice.
// - Telling it the sizes takes as long as a dozen steps: a kernel tells it once, in front of its tiles.
// - What it stores can be loaded only when it has reached the cache, after all that comes before it is done: sums go to
//   scratch memory, and the next ones are computed before they are read (Epilogue::storeSums).
#pragma once
#include "lib/Target/CPU/Kernels/Contraction/RegisterTile.h"

namespace sprig::cpu {

class MatrixUnit {
public:
  static constexpr int64_t kMostRows = 16, kMostWords = 16;
  /// So many rows of sums are computed one after the other, while as many before them are read.
  static constexpr int64_t kPartRows = 2 * kMostRows;

  /// Of the left side of a step: `rows` of `words` of four bytes.
  struct Sizes {
    int64_t rows, words;
  };
  /// What a kernel computes: `sums` rows of sums for each of `columns`, in blocks of `block` rows, with one or two
  /// vectors of columns at a time; each sum is that of `chains` chains of `chain` words.
  struct Work {
    int64_t sums, columns, block, chains, chain;
    bool isWhole;      // no word of a chain may be left over
    bool isAlone;      // a block's sums are read before others are computed
    bool hasFunctions; // what follows them has polynomials
  };
  /// Nothing where the target has no such unit or products of `interleave` bytes do not gain by it.
  static std::optional<Sizes> choose(const CpuArch &target, int64_t interleave, const Work &work);

  /// Scratch memory for sums; 0 for other products than of bytes. The same for all targets.
  static int64_t sumsBytes(int64_t interleave);

  /// Tells the unit the sizes; to be called outside the loops over tiles. Sums of row i lie in `sums` from
  /// i * kPanelWidth on.
  MatrixUnit(KernelBuilder &kernel, Sizes sizes, mlir::Value sums);
  /// The unit is no longer in use: whoever switches threads need not save its state.
  void release();

  const Sizes sizes;
  const mlir::Value sums; // memref<i32>

  /// Calls `tile` for the first row of each tile of `length` rows, from 0 on; of fewer than a tile's below 0, so that
  /// their sums begin with row sumsBefore().
  void forTiles(int64_t length, llvm::function_ref<void(mlir::Value first)> tile);
  int64_t sumsBefore(int64_t length) const { return std::max<int64_t>(sizes.rows - length, 0); }
  /// Computes and stores `length` rows part by part: tiles with the first row and the place of its sums, and rows from
  /// `first` on whose sums begin with row `sum`.
  using Tile = llvm::function_ref<void(mlir::Value first, mlir::Value sum)>;
  using Store = llvm::function_ref<void(mlir::Value first, int64_t count, mlir::Value sum)>;
  void forParts(int64_t length, Tile tile, Store store);
  /// A tile: zeros, the products of loops over k, as many of their steps as stepsTaken() says, and the sums' place.
  void begin(int64_t vectors);
  void add(const ContractionLoop &loop);
  void end(mlir::Value sum);
  int64_t stepsTaken(int64_t steps) const { return steps / sizes.words * sizes.words; }

private:
  void call(llvm::StringRef name, mlir::ValueRange operands = {});
  mlir::Value number(int64_t tile);
  mlir::Value address(mlir::Value buffer, mlir::Value offset);
  void move(llvm::StringRef name, int64_t tile, mlir::Value address, int64_t rowBytes);

  KernelBuilder &k;
  int64_t vectors = 0;
};

} // namespace sprig::cpu
