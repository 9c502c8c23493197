// One step of a scan in a block of a GPU: its matrix products and its elementwise operations, by all threads, with
// barriers where some read what others have written. For the scan emitter, which has the loop over time.
#pragma once
#include "dialects/NN/NNContraction.h"
#include "lib/Target/CUDA/Kernels/Builder/GpuBuilder.h"
#include "lib/Target/CUDA/Kernels/Control/ScanForm.h"
#include "lib/Target/Kernels/ScanRow.h"

namespace sprig::cuda {

class GpuScanStep : ScanRow {
public:
  /// Of the block of rows with this number.
  GpuScanStep(GpuBuilder &kernel, ir::ScanOp scan, const ScanForm &form, mlir::Value block);

  void loadInitial();
  /// Step `time`; what is carried is read from copy `parity` and written to the other. Ends with a barrier.
  void emit(mlir::Value time, mlir::Value parity);
  void storeLast(mlir::Value parity);

private:
  struct Buffer {
    mlir::Value buffer; // 1-d
    ScanForm::Place place;
  };
  /// A thread's part of a product: where its rows of the left side begin and its columns of the right one, and how far
  /// apart the steps of the right side are.
  struct Sides {
    ScanForm::Tile tile;
    mlir::Type type;
    int64_t depth;
    mlir::Value left, right;
    llvm::SmallVector<mlir::Value> leftRows;
    bool isLeftWide; // 128 bits are read at once
    mlir::Value rightColumn;
    int64_t rightStride;
    llvm::ArrayRef<mlir::Value> held; // the columns' elements, step by step, where registers have them
    mlir::Value row, column;          // in the block
  };

  void fillPadding();
  void holdMatrices();
  /// The thread's part of a product whose number is `item`; its right side alone.
  Sides sidesOf(ir::MatmulOp product, mlir::Value item);
  Sides rightOf(ir::MatmulOp product, mlir::Value item);
  void fetchInputs();
  void awaitInputs();
  void emitProduct(ir::MatmulOp product);
  llvm::SmallVector<mlir::Value> sumsOf(const Sides &sides);
  llvm::SmallVector<mlir::Value> multiply(const Sides &sides, mlir::Value begin, int64_t count,
                                          mlir::ValueRange chains);
  llvm::SmallVector<mlir::Value> readFew(mlir::Value buffer, mlir::Value at, int64_t count, mlir::Type type,
                                         bool isWide);
  void emitElementwise();
  mlir::Value load(mlir::Value value, int64_t shift) override;
  /// `column` columns from the place on.
  void store(mlir::Value computed, mlir::Value value, int64_t column, bool next = false);
  /// Likewise in a result of so many columns, behind so many rows of earlier steps.
  void storeOutput(mlir::Value computed, mlir::Type type, unsigned result, mlir::Value rowsBefore, int64_t columns,
                   int64_t column);

  /// Calls `body` for the items [0, count) that are the thread's.
  void forItems(int64_t count, llvm::function_ref<void(mlir::Value item)> body);
  /// Calls `body` at the places of the block's rows and so many columns that are the thread's: where each of `width`
  /// neighbours begins.
  void forPlaces(int64_t columns, llvm::function_ref<void()> body, int64_t width = 1);
  /// A row of the block in the whole batch. Of a block that has fewer, the last row is there several times, and is
  /// stored once.
  mlir::Value inBatch(mlir::Value row);
  /// Where a row of a value begins in its buffer.
  mlir::Value rowIn(const Buffer &buffer, mlir::Value row, bool next = false);
  mlir::Value flatOperand(mlir::BlockArgument argument);

  GpuBuilder &k;
  ir::ScanOp scan;
  const ScanForm &form;
  llvm::DenseMap<mlir::Value, Buffer> buffers;
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> held; // of products: elements of their matrices
  mlir::Value firstRow, time, parity;
  mlir::Value fetched; // the copies on their way
  struct {
    mlir::Value row, column; // of the block
  } here;
};

} // namespace sprig::cuda
