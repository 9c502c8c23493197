// Panels that hold their numbers in fewer bits than products take: what a packed product (PackedGemm) asks of them, and
// where their parts lie.
#pragma once
#include "dialects/Kernel/Panels.h"
#include "lib/Target/CPU/Kernels/Builder/KernelBuilder.h"

namespace sprig::cpu {

class CodedPanels {
public:
  virtual ~CodedPanels() = default;

  /// The columns of some vectors, of 16 lanes each or fewer, from vector `first` of panel `panel` on.
  struct Columns {
    mlir::Value panel;
    int64_t first;
    llvm::SmallVector<int64_t> lanes;
  };
  /// The sums of a tile's rows, row i from left[leftBase + i * depth] on, for these columns; rows outermost.
  virtual llvm::SmallVector<mlir::Value> contract(mlir::Value left, mlir::Value leftBase, int64_t rows,
                                                  const Columns &columns) const = 0;
  /// Rows of a tile that do not spill, of those that do not with whole numbers.
  virtual int64_t tileRows(int64_t most) const { return most; }

protected:
  CodedPanels(KernelBuilder &kernel, kernel::NarrowPlaces places) : k(kernel), places(places) {}

  /// A word of codes for each lane of a vector of columns, as i32.
  mlir::Value wordsOf(const Columns &columns, unsigned vector, mlir::Value word) const;
  /// Codes of four bits of words: those of the first four rows, and those of the other four, each in bytes of an i32.
  std::pair<mlir::Value, mlir::Value> nibblesOf(mlir::Value words) const;
  /// Where a vector's scales or zero points of a group of rows lie, of `groups`.
  mlir::Value placeOf(const Columns &columns, unsigned vector, mlir::Value group, int64_t groups) const;
  /// Zero points from a place on, as i32.
  mlir::Value pointsAt(mlir::Value points, mlir::Value at, int64_t lanes) const;

  KernelBuilder &k;
  kernel::NarrowPlaces places;
  mlir::Value codes; // 1-d
};

/// Panels that tiles of many rows unpack once.
class UnpackedPanels : public CodedPanels {
public:
  using CodedPanels::CodedPanels;
  /// Whether taking numbers apart is hidden behind their products, so that nobody need unpack a panel for many rows.
  virtual bool isHidden() const { return false; }
  /// A buffer type that holds an unpacked panel.
  virtual mlir::MemRefType unpackedType() const = 0;
  /// Writes a panel as kernel.pack lays it out.
  virtual void unpack(mlir::Value panel, mlir::Value target) const = 0;
};

} // namespace sprig::cpu
