// What follows a contraction in its dispatch: elementwise operations of its shape, on sums in registers, and the stores
// of all results. For the emitters of contractions.
#pragma once
#include "dialects/NN/NNReduction.h"
#include "lib/Target/CUDA/Kernels/Elements/GpuEvaluator.h"
#include "lib/Target/CUDA/Kernels/KernelEmitter.h"

namespace sprig::cuda {

/// The contraction of a dispatch that is one, of f32 operands as they lie in memory (of a convolution also a filter
/// with its rows or channels inside: ConvForm.h), with elementwise operations of its shape behind it; null for any
/// other.
mlir::Operation *contractionOf(kernel::DispatchOp dispatch);

/// The same of nn.pool.
ir::PoolOp poolOf(kernel::DispatchOp dispatch);

/// Emits such a dispatch.
class ContractionEmitter : public GpuEmitter {
public:
  /// An operand of what follows the contraction alone is read by the thread that stores the same element, before it
  /// does.
  bool mayOverwrite(kernel::DispatchOp dispatch, unsigned operand, unsigned result) const override;
};

class Epilogue {
public:
  /// Of so many neighbours in the result's last dimension at once; `isFlat`: in the order of memory, by which
  /// positions are counted then.
  Epilogue(GpuBuilder &kernel, mlir::Operation *contraction, int64_t lanes, bool isFlat = false)
      : k(kernel), evaluator(kernel, lanes, isFlat ? Positions::elements : Positions::dimensions),
        contraction(contraction) {}

  /// Whether what follows the contraction reads nothing but values of its shape and single elements.
  static bool isFlat(mlir::Operation *contraction);

  int64_t lanes() const { return evaluator.lanes; }
  /// Stores the results' elements from a position of the contraction on, which are at `offset` in memory.
  void store(mlir::ValueRange sums, mlir::ValueRange position, mlir::Value offset);

private:
  GpuBuilder &k;
  GpuEvaluator evaluator;
  mlir::Operation *contraction;
};

} // namespace sprig::cuda
