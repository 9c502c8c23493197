// The evaluator of CUDA kernels: a thread computes an element, or a few neighbours, of a dispatch's values.
#pragma once
#include "lib/Target/CUDA/Kernels/Builder/GpuBuilder.h"
#include "lib/Target/Kernels/Evaluator.h"

namespace sprig::cuda {

/// How positions count a dispatch's values.
enum class Positions {
  dimensions, ///< an index for each dimension
  elements,   ///< one index over all elements, in row-major order; values have all of them or a single one
};

class GpuEvaluator : public Evaluator {
public:
  GpuEvaluator(GpuBuilder &kernel, int64_t lanes = 1, Positions positions = Positions::dimensions)
      : Evaluator(kernel, lanes), positions(positions) {}

protected:
  llvm::SmallVector<int64_t> positionShape(mlir::Value value) const override {
    if (positions == Positions::dimensions) return Evaluator::positionShape(value);
    return {llvm::cast<mlir::RankedTensorType>(value.getType()).getNumElements()};
  }

private:
  Positions positions;
};

} // namespace sprig::cuda
