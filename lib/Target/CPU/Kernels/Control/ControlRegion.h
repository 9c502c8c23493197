// A region of a branch or a loop inside a kernel: dispatches one after the other, each all of its tiles, with views
// between them, at their places (lib/Target/Kernels/ControlPlaces.h). For the emitters of nn.cond and nn.while.
#pragma once
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/CPU/Kernels/Builder/KernelBuilder.h"
#include "lib/Target/Kernels/ControlBuffers.h"

namespace sprig::cpu {

const ControlParts &cpuParts();

/// The most that a dispatch in its regions needs of scratch memory.
int64_t partScratch(mlir::Operation *control);

class ControlRegion : public RegionBuffers {
public:
  ControlRegion(KernelBuilder &kernel, mlir::Block &block, llvm::ArrayRef<mlir::Value> arguments,
                const RegionPlaces &places, int32_t firstOperation)
      : RegionBuffers(kernel, block, arguments, places, firstOperation), k(kernel) {}
  /// The kernel's code: the first error, after which nothing is computed any more.
  mlir::FailureOr<mlir::Value> emit();

private:
  mlir::FailureOr<mlir::Value> emitFrom(mlir::Block::iterator operation, int32_t number);

  KernelBuilder &k;
};

/// Copies all elements of a buffer to one of the same type and number of elements.
void copyBuffer(KernelBuilder &kernel, mlir::Value from, mlir::Value to);
/// Whether the only element of a buffer of i1 is true.
mlir::Value loadFlag(KernelBuilder &kernel, mlir::Value buffer);

} // namespace sprig::cpu
