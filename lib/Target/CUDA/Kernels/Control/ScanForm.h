// How nn.scan is one kernel of a GPU: blocks of rows, each of which goes through time on its own, with what a step
// keeps in shared memory. For the emitter of scans, and for the target, which is asked whether that pays. All of it
// follows from shapes alone.
#pragma once
#include "dialects/NN/ScanStages.h"
#include "lib/Target/CUDA/Kernels/Builder/GpuBuilder.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace sprig::cuda {

struct ScanForm {
  /// Fails where rows meet, or where shared memory cannot hold one; `why` says so.
  static std::optional<ScanForm> analyze(ir::ScanOp scan, std::string &why);

  /// Whether the steps take no longer in one kernel than as kernels of their own; `why` says where they do.
  bool pays(std::string &why) const;

  /// The part of a product that a thread has: so many rows and neighbouring columns.
  struct Tile {
    int64_t rows = 1, columns = 1;
  };
  Tile tileOf(mlir::Operation *product) const;
  /// How many such parts a block has.
  int64_t partsOf(mlir::Operation *product) const;
  /// Products whose columns of the matrix a thread reads once and keeps in registers through all steps.
  llvm::SmallPtrSet<mlir::Operation *, 4> held;

  int64_t blocks() const;

  ir::ScanStages stages;
  int64_t blockRows = 1, threads = 0;
  int64_t widest = 1; // columns of a value
  /// Where values lie in shared memory, row by row. What is carried has two copies, which take turns: a step reads one
  /// and writes the other.
  struct Place {
    int64_t columns, elements; // of a row; of a copy
    int64_t copies;
  };
  llvm::MapVector<mlir::Value, Place> places;
  /// Inputs whose slices are copied to shared memory while the first products of a step are computed.
  llvm::SmallVector<mlir::BlockArgument> staged;

private:
  void setBlockRows(int64_t rows);
  void stageInputs(ir::ScanOp scan);
  void holdMatrices();
  int64_t sharedBytes() const;

  int64_t matrixBytes = 0;  // that a step reads of memory
  int64_t multiplyAdds = 0; // of a row in a step
  int64_t launches = 0;     // that a step would be
};

} // namespace sprig::cuda
