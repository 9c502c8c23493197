// Panels that hold their numbers in fewer bits than products take: what a packed product (PackedGemm) asks of them.
#pragma once
#include "lib/Target/CPU/Kernels/Builder/KernelBuilder.h"

namespace sprig {

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
  /// Whether taking numbers apart is hidden behind their products, so that nobody need unpack a panel for many rows.
  virtual bool isHidden() const { return false; }
  /// Rows of a tile that do not spill, of those that do not with whole numbers.
  virtual int64_t tileRows(int64_t most) const { return most; }
  /// A buffer type that holds an unpacked panel.
  virtual mlir::MemRefType unpackedType() const = 0;
  /// Writes a panel as kernel.pack lays it out.
  virtual void unpack(mlir::Value panel, mlir::Value target) const = 0;
};

} // namespace sprig
