// Sums of several products at once: in each 32-bit lane, four unsigned bytes of the left side times four signed ones of
// the right side are added to a sum of i32, which wraps; or two bf16 times two to a sum of f32, the odd one first, each
// by a multiply-add that takes and gives denormals as zeros (vdpbf16ps; Intel's Software Developer's Manual, volume 2).
// For the inner loop of contractions; the same bits with every instruction set from x86-64-v3 up.
#pragma once
#include "lib/Target/CPU/Kernels/Builder/KernelBuilder.h"
#include "llvm/Support/MathExtras.h"

namespace sprig::cpu {

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

/// Few rows of ui8 times panels of i8 on processors without sums of four products: bytes of the left side as two halves
/// of four bits, whose products with i8 an instruction adds up in pairs of 16 bits that no few of them leave. The
/// integers are those of DotProduct, which takes panels apart for each row of few.
class HalvedRows {
public:
  static bool areFor(const CpuArch &target, int64_t rows) { return !target.dotBytes && areFew(rows); }
  /// Vectors of columns that the registers hold the sums of.
  static int64_t vectors(const CpuArch &target);
  /// The memory that rows of a depth take.
  static mlir::MemRefType type(KernelBuilder &kernel, int64_t depth, int64_t rows);
  static int64_t bytes(int64_t depth, int64_t rows) { return areFew(rows) ? rows * stride(depth) * 4 : 0; }

  /// `halves`: a buffer of that type.
  HalvedRows(KernelBuilder &kernel, mlir::Value halves, int64_t depth) : k(kernel), halves(halves), depth(depth) {}

  /// Takes `rows` rows of a buffer apart.
  void take(mlir::Value left, mlir::Value leftBase, int64_t rowStride, int64_t rows);
  /// A row times vectors of kLanes columns that begin at right[rightBase + rightOffsets[j]], a step of four rows of the
  /// panel every `rightStep` elements: i32.
  llvm::SmallVector<mlir::Value> contract(mlir::Value row, mlir::Value right, mlir::Value rightBase,
                                          llvm::ArrayRef<int64_t> rightOffsets, int64_t rightStep);

private:
  static constexpr int64_t kMostRows = 3; // of more rows the panels are sooner taken apart for all of them
  static bool areFew(int64_t rows) { return rows <= kMostRows; }
  /// Words of a row: two for each four bytes.
  static int64_t stride(int64_t depth) { return llvm::alignTo(depth, kLanes) / 2; }

  KernelBuilder &k;
  mlir::Value halves;
  int64_t depth;
};

} // namespace sprig::cpu
