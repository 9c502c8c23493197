// Sums of products of four bytes: in each 32-bit lane, four unsigned bytes of the left side times four signed ones of
// the right side are added to a sum, which wraps. For the inner loop of contractions; the same integers with every
// instruction set.
#pragma once
#include "lib/Target/CPU/Kernels/Builder/KernelBuilder.h"

namespace sprig {

class DotProduct {
public:
  explicit DotProduct(KernelBuilder &kernel) : k(kernel) {}

  /// An operand as the instructions want it: whole, or without such instructions its even and its odd bytes as words of
  /// 16 bits.
  struct Side {
    mlir::Value even, odd;
  };
  /// Four bytes of the left side in an i32, of which `valid` are read and the others 0.
  mlir::Value word(mlir::Value buffer, mlir::Value offset, int64_t valid);
  /// The same four bytes in each of `lanes` lanes.
  Side left(mlir::Value word, int64_t lanes);
  /// Four bytes for each of `lanes` lanes.
  Side right(mlir::Value buffer, mlir::Value offset, int64_t lanes);
  mlir::Value accumulate(const Side &left, const Side &right, mlir::Value sums);

private:
  /// `instruction(lanes of a register)` on each register's part of vectors of as many bytes; gives `lanes` of i32.
  mlir::Value byRegisters(llvm::ArrayRef<mlir::Value> operands, int64_t lanes,
                          llvm::function_ref<llvm::StringRef(int64_t)> instruction);

  KernelBuilder &k;
};

} // namespace sprig
