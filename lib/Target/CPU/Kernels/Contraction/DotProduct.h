// Sums of several products at once: in each 32-bit lane, four unsigned bytes of the left side times four signed ones of
// the right side are added to a sum of i32, which wraps; or two bf16 times two to a sum of f32, the odd one first, each
// by a multiply-add that takes and gives denormals as zeros (vdpbf16ps; Intel's Software Developer's Manual, volume 2).
// For the inner loop of contractions; the same bits with every instruction set from x86-64-v3 up.
#pragma once
#include "lib/Target/CPU/Kernels/Builder/KernelBuilder.h"

namespace sprig {

class DotProduct {
public:
  /// `factors`: how many of a side make 32 bits, 4 bytes or 2 bf16.
  DotProduct(KernelBuilder &kernel, int64_t factors) : k(kernel), factors(factors) {}

  /// An operand as the instructions want it: whole, or without such instructions its even and its odd factors, bytes as
  /// words of 16 bits and bf16 as f32.
  struct Side {
    mlir::Value even, odd;
  };
  /// 32 bits of the left side in an i32: `valid` factors that are read and zeros.
  mlir::Value word(mlir::Value buffer, mlir::Value offset, int64_t valid);
  /// The same 32 bits in each of `lanes` lanes; or 32 bits for each lane of a vector.
  Side left(mlir::Value word, int64_t lanes) { return left(k.splat(word, lanes)); }
  Side left(mlir::Value words);
  /// 32 bits for each of `lanes` lanes.
  Side right(mlir::Value buffer, mlir::Value offset, int64_t lanes);
  Side right(mlir::Value factors, int64_t lanes);
  mlir::Value accumulate(const Side &left, const Side &right, mlir::Value sums);

  /// Whether the target has an instruction for it; and how many registers an operand takes.
  static bool isNative(const CpuArch &target, int64_t factors) {
    return factors == 4 ? target.dotBytes : target.dotHalves;
  }
  static int64_t registersOf(const CpuArch &target, int64_t factors) {
    return factors == 1 || isNative(target, factors) ? 1 : 2;
  }
  /// What `chain` makes of the sums, which accumulate() alone computes, with denormals as the instruction has them.
  llvm::SmallVector<mlir::Value>
  withDenormals(mlir::ValueRange sums, llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::ValueRange)> chain);

private:
  bool isNative() const { return isNative(k.target, factors); }
  /// `instruction(lanes of a register)` on each register's part of vectors of as many lanes; gives `lanes` of a type.
  mlir::Value byRegisters(llvm::ArrayRef<mlir::Value> operands, int64_t lanes, mlir::Type element,
                          llvm::function_ref<mlir::Value(mlir::ValueRange, mlir::VectorType)> instruction);

  KernelBuilder &k;
  int64_t factors;
};

} // namespace sprig
