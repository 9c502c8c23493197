// The evaluator of a loop group: positions count its runs, and what passes over rows leave to later ones lies in
// scratch memory. For the loops of LoopNest.
#pragma once
#include "lib/Target/CPU/Kernels/Elementwise/LoopGroup.h"
#include "lib/Target/Kernels/Evaluator.h"

namespace sprig::cpu {

class LoopEvaluator : public Evaluator {
public:
  LoopEvaluator(KernelBuilder &kernel, const LoopGroup &group)
      : Evaluator(kernel, group.lanes), k(kernel), group(group) {}

  /// The rows in scratch that may be read from now on: those of values whose level is below this one.
  int64_t level = 0;
  /// The row of a block at hand; null where rows are computed one at a time.
  mlir::Value blockRow;

  /// Makes the rows of a value known that lie in a 1-d buffer, row `firstRow + blockRow` at that times `stride`.
  struct Rows {
    mlir::Value buffer, firstRow;
    int64_t stride = 0;
  };
  void provide(mlir::Value value, Rows rows) { provided[value] = rows; }

  /// A row's element in scratch memory: the index for a position of the iteration space.
  mlir::Value scratchIndex(llvm::ArrayRef<Coordinate> position);
  mlir::Value scratchRow(mlir::Value value);

protected:
  llvm::SmallVector<int64_t> positionShape(mlir::Value value) const override { return group.positionShape(value); }
  size_t coordinateOf(ir::IotaOp iota) const override { return group.coordinateOf(iota); }
  mlir::Value stored(mlir::Value value, llvm::ArrayRef<Coordinate> position) override;

private:
  KernelBuilder &k;
  const LoopGroup &group;
  llvm::DenseMap<mlir::Value, Rows> provided;
};

} // namespace sprig::cpu
