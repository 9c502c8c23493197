// Panels that hold their numbers in fewer bits than products take: what a packed product (PackedGemm) asks of them, and
// where their parts lie.
#pragma once
#include "dialects/Kernel/Panels.h"
#include "lib/Target/CPU/Kernels/Builder/KernelBuilder.h"
#include "dialects/Kernel/KernelContraction.h"

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

/// Numbers of a few bits, with a scale and a zero point for a group of rows (kernel.matmul_narrow), read as vectors of
/// f32. For products that read each of them once, in registers, and for those of many rows, which unpack a panel first.
/// Numbers and the order of sums are those of a product with the dequantised matrix, bit for bit.
class NarrowPanels : public UnpackedPanels {
public:
  NarrowPanels(KernelBuilder &kernel, kernel::MatmulNarrowOp op);

  llvm::SmallVector<mlir::Value> contract(mlir::Value left, mlir::Value leftBase, int64_t rows,
                                          const Columns &columns) const override;
  mlir::MemRefType unpackedType() const override;
  void unpack(mlir::Value panel, mlir::Value target) const override;

private:
  /// What the numbers of a vector of columns are made with: in the form of the codes' places in a word.
  struct Scaling {
    mlir::Value scale;
    llvm::SmallVector<mlir::Value> zeros; // by place / 4
  };
  using Body = llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value row, llvm::ArrayRef<mlir::Value> numbers,
                                                                 mlir::ValueRange carried)>;
  /// Calls `body` for the rows of stretches [begin, end), and for those behind the last whole stretch if asked for.
  llvm::SmallVector<mlir::Value> forRows(const Columns &columns, mlir::Value begin, mlir::Value end, bool withRest,
                                         mlir::ValueRange carried, Body body) const;
  llvm::SmallVector<mlir::Value> forStretch(const Columns &columns, mlir::Value stretch, int64_t words, int64_t tail,
                                            mlir::ValueRange carried, Body body) const;
  llvm::SmallVector<mlir::Value> forWord(const Columns &columns, llvm::ArrayRef<Scaling> scalings, mlir::Value word,
                                         int64_t rows, mlir::ValueRange carried, Body body) const;
  Scaling scalingOf(const Columns &columns, unsigned vector, mlir::Value group) const;
  /// The number at bit `place` of each word, or of words that were moved there.
  mlir::Value number(mlir::Value words, int64_t place, const Scaling &scaling) const;

  int64_t groups, group;
  int64_t stretch; ///< rows that share a scale and are not cut: whole words, whole stretches are a group or a part
  int64_t zero;
  mlir::Value scales, zeroPoints; // 1-d; no zero points: `zero`
};

/// Bytes that four bits hold, for products of bytes (kernel.matmul_packed with `lowest`): each byte has two codes,
/// which masks and a shift separate in registers. Where rows are few, a sum of x (code + lowest) is computed as that of
/// x code plus lowest times the sum of x, which all columns share; in integers that wrap both are equal.
class NibblePanels : public UnpackedPanels {
public:
  NibblePanels(KernelBuilder &kernel, kernel::MatmulPackedOp op);

  llvm::SmallVector<mlir::Value> contract(mlir::Value left, mlir::Value leftBase, int64_t rows,
                                          const Columns &columns) const override;
  /// One instruction takes all products of a register: others have nothing to do meanwhile.
  bool isHidden() const override;
  /// Both halves of words are there at once, beside a mask and what is lowest.
  int64_t tileRows(int64_t most) const override { return std::max<int64_t>(most - 2, 1); }
  mlir::MemRefType unpackedType() const override;
  void unpack(mlir::Value panel, mlir::Value target) const override;

private:
  /// The codes of a word's first four rows in each lane, and those of the other four, as bytes.
  std::pair<mlir::Value, mlir::Value> codesOf(const Columns &columns, unsigned vector, mlir::Value word) const;
  mlir::Value withLowest(mlir::Value codes) const;

  int64_t lowest;
};

} // namespace sprig::cpu
