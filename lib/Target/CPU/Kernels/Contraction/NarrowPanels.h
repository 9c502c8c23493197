// Panels whose numbers have a few bits, with a scale and a zero point for a group of rows (kernel.matmul_narrow), read
// as vectors of f32. For products that read each of them once, in registers, and for those of many rows, which unpack a
// panel first. Numbers and the order of sums are those of a product with the dequantised matrix, bit for bit.
#pragma once
#include "dialects/Kernel/KernelContraction.h"
#include "dialects/Kernel/Panels.h"
#include "lib/Target/CPU/Kernels/Contraction/CodedPanels.h"

namespace sprig::cpu {

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

} // namespace sprig::cpu
