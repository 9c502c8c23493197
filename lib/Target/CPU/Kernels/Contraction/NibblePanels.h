// Panels of bytes that four bits hold, for products of bytes (kernel.matmul_packed with `lowest`): two codes in each
// byte, which masks and a shift make of it in registers. Of few rows a sum of x (code + lowest) is that of x code, and
// lowest times the sum of x, which all columns share; in integers that wrap both are equal.
#pragma once
#include "dialects/Kernel/KernelContraction.h"
#include "dialects/Kernel/Panels.h"
#include "lib/Target/CPU/Kernels/Contraction/CodedPanels.h"

namespace sprig::cpu {

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
