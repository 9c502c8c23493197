// One step of a scan inside a kernel: its memory, its reductions, its matrix products and its elementwise operations.
// For the scan emitter, which has the loops over rows and time. Everything that a step keeps lies in scratch memory,
// rows padded to whole vectors, so that only what comes from or goes to tensors needs masks.
#pragma once
#include "dialects/NN/NNRecurrent.h"
#include "lib/Target/CPU/Kernels/Builder/KernelBuilder.h"
#include "lib/Target/Kernels/ScanRow.h"
#include "llvm/ADT/MapVector.h"

namespace sprig::cpu {

/// Where values that a step keeps lie in scratch memory, for blocks of some rows. Carried values have two places, which
/// take turns: a step reads one and writes the other.
class ScanScratch {
public:
  ScanScratch(ir::ScanOp scan, const ir::ScanStages &stages, int64_t blockRows);
  struct Place {
    int64_t byteOffset, stride, elements; // of a row; of one copy
    bool carried;
  };
  llvm::MapVector<mlir::Value, Place> places;
  int64_t halvesOffset = 0, halvesBytes = 0; ///< where a product of bytes has few rows of its left side in halves
  int64_t bytes = 0;
};

class ScanStep : ScanRow {
public:
  /// `scratch` outlives the step.
  ScanStep(KernelBuilder &kernel, ir::ScanOp scan, const ir::ScanStages &stages, const ScanScratch &scratch);

  /// Rows [firstRow, firstRow + rows) of the batch.
  void setBlock(mlir::Value firstRow, int64_t rows);
  void loadInitial();
  /// Step `time`; carried values are read from copy `parity` and written to the other.
  void emit(mlir::Value time, mlir::Value parity);
  void storeLast(mlir::Value parity);

private:
  struct Buffer {
    mlir::Value buffer; // 1-d
    ScanScratch::Place place;
  };
  /// A vector of columns of a row.
  struct Position {
    mlir::Value row, column, mask;
  };

  void emitReduction(ir::ReduceOp op);
  void emitProduct(mlir::Operation *op);
  void emitElementwise(unsigned stage);
  mlir::Value load(mlir::Value value, int64_t shift) override;
  mlir::Value uniform(mlir::Value scalar) override { return k.splat(scalar); }
  mlir::Value readTensor(mlir::BlockArgument argument, int64_t shift);
  mlir::Value maskFor(mlir::Value part, mlir::Value value);
  void store(mlir::Value part, mlir::Value value, int64_t column);
  void storeYield(mlir::Value part, unsigned index, int64_t column);
  mlir::Value copyOffset(const Buffer &buffer, bool next);
  /// Rows of a block that a value has: all, or one for all of them.
  int64_t rowsOf(mlir::Value value) const;
  /// The row of a value that is read at this one.
  mlir::Value rowOf(mlir::Value value);
  /// Calls `body` at the vectors of the first `count` rows of the block and `columns` columns.
  void forVectors(int64_t count, int64_t columns, llvm::function_ref<void()> body);
  void forVectors(int64_t columns, llvm::function_ref<void()> body) { forVectors(rows, columns, body); }
  std::optional<unsigned> resultOf(unsigned yielded);

  KernelBuilder &k;
  ir::ScanOp scan;
  llvm::DenseMap<mlir::Value, Buffer> buffers;
  const ScanScratch &scratch;
  int64_t rows = 0;
  Position here;
  mlir::Value firstRow, time, parity, otherParity;
};

} // namespace sprig::cpu
