// A region of a branch or a loop inside a kernel: dispatches one after the other, each all of its tiles, with views
// between them. For the emitters of nn.cond and nn.while, whose regions the fuse pass has brought into this form.
// What passes from dispatch to dispatch lies in the kernel's scratch memory, after what the dispatches need
// themselves.
#pragma once
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/CPU/Kernels/Builder/KernelBuilder.h"
#include "llvm/ADT/DenseSet.h"

namespace sprig {

/// The operation of a dispatch that holds nothing else, on region arguments, with regions of dispatches that all have
/// kernels.
mlir::Operation *controlIn(kernel::DispatchOp dispatch);

/// Scratch memory that the dispatches in the regions of an operation need, one after the other.
int64_t partScratch(mlir::Operation *control);

/// Offsets in scratch memory of the results in a region; values that are not alive together share bytes.
struct RegionPlaces {
  /// From `start` on. `elsewhere` are results that lie in other memory.
  RegionPlaces(mlir::Block &block, const llvm::DenseSet<mlir::Value> &elsewhere, int64_t start);
  llvm::DenseMap<mlir::Value, int64_t> offsets;
  int64_t end;
};

/// The position of an operation's result among the results of its dispatch, if it is one of them.
std::optional<unsigned> positionInDispatch(kernel::DispatchOp dispatch, mlir::Value result);

class ControlRegion {
public:
  /// Errors number the region's operations from `firstOperation` on.
  ControlRegion(KernelBuilder &kernel, mlir::Block &block, llvm::ArrayRef<mlir::Value> arguments,
                const RegionPlaces &places, int32_t firstOperation);
  /// Sets where a result lies; before emit.
  void place(mlir::Value result, mlir::Value buffer) { buffers[result] = buffer; }
  /// The kernel's code: the first error, after which nothing is computed any more.
  mlir::FailureOr<mlir::Value> emit();
  mlir::Value bufferOf(mlir::Value value) const { return buffers.lookup(value); }
  /// The number after those of the region.
  int32_t nextOperation() const;

private:
  mlir::FailureOr<mlir::Value> emitFrom(mlir::Block::iterator operation, int32_t number);

  KernelBuilder &k;
  mlir::Block &block;
  const RegionPlaces &places;
  int32_t firstOperation;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
};

/// Copies all elements of a buffer to one of the same type and number of elements.
void copyBuffer(KernelBuilder &kernel, mlir::Value from, mlir::Value to);
/// Whether the only element of a buffer of i1 is true.
mlir::Value loadFlag(KernelBuilder &kernel, mlir::Value buffer);

} // namespace sprig
