// Rows of bf16 as f32 in scratch memory, for register tiles whose products are multiply-adds of f32 (DotProduct): to
// take the two factors of a word apart beside them would cost more than a third of the multiply-adds.
#pragma once
#include "lib/Target/CPU/Kernels/Contraction/RegisterTile.h"

namespace sprig::cpu {

class WideRows {
public:
  /// For products of so many rows, and of chains that are never cut.
  static bool areFor(int64_t rows, int64_t depth) { return rows >= 5 && depth <= kLongestChain; }

  static constexpr int64_t bytes() { return kMostRows * kStride * int64_t(sizeof(float)); }
  static mlir::MemRefType type(KernelBuilder &kernel);

  /// `wide`: a buffer of that type.
  WideRows(KernelBuilder &kernel, mlir::Value wide) : k(kernel), wide(wide) {}

  /// What emitContraction() gives for a loop over `depth` factors of `rows` rows that are bf16, two of them a step.
  llvm::SmallVector<mlir::Value> contract(const ContractionLoop &loop, int64_t depth, int64_t rows,
                                          mlir::ValueRange accumulators);

private:
  /// So many of a row at a time stay in the first-level cache; no two rows are in one set of it.
  static constexpr int64_t kPart = 256, kStride = kPart + kLanes;
  static constexpr int64_t kMostRows = 14; // of a register tile

  void widen(const ContractionLoop &loop, mlir::Value first, int64_t length, int64_t rows);

  KernelBuilder &k;
  mlir::Value wide;
};

} // namespace sprig::cpu
