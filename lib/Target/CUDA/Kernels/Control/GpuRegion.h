// A region of a branch or a loop inside a kernel of one block: dispatches one after the other, each all of its tiles,
// with barriers between them, at their places (lib/Target/Kernels/ControlPlaces.h). For the emitters of nn.cond and
// nn.while. All threads of the block take the same way: what decides lies in memory, and is read behind a barrier.
#pragma once
#include "lib/Target/CUDA/Kernels/Builder/GpuBuilder.h"
#include "lib/Target/CUDA/Kernels/KernelEmitter.h"
#include "lib/Target/Kernels/ControlBuffers.h"

namespace sprig::cuda {

const ControlParts &gpuParts();

/// The plan of a kernel for a branch or a loop, without the scratch memory of its own: one block, as large as the
/// largest of its parts.
GpuPlan planOfParts(mlir::Operation *control);

class GpuRegion : public RegionBuffers {
public:
  GpuRegion(GpuBuilder &kernel, mlir::Block &block, llvm::ArrayRef<mlir::Value> arguments, const RegionPlaces &places,
            int32_t firstOperation)
      : RegionBuffers(kernel, block, arguments, places, firstOperation), k(kernel) {}
  /// All threads see what was written. As in every kernel, computing goes on where a part reports an error.
  mlir::LogicalResult emit();
  /// Whether a part may report an error; after emit.
  bool mayFail() const { return reports; }

private:
  mlir::LogicalResult emitPart(kernel::DispatchOp part, int32_t number);

  GpuBuilder &k;
  bool reports = false;
};

/// Whether the launch has reported no error so far. All threads have to come, and get the same answer.
mlir::Value isFineSoFar(GpuBuilder &kernel);
/// Whether the only element of a buffer of i1 is true. Likewise; the buffer may be overwritten afterwards.
mlir::Value loadFlag(GpuBuilder &kernel, mlir::Value buffer);
/// The block copies all elements of a buffer to one of as many; a barrier has to follow.
void copyBuffer(GpuBuilder &kernel, mlir::Value from, mlir::Value to);

} // namespace sprig::cuda
