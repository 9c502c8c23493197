// The buffers of a branch's or a loop's values inside a kernel, at their places (ControlPlaces.h): of a region, whose
// dispatches a target computes one after the other, and of what a loop carries. For the emitters of nn.cond and
// nn.while of every target.
#pragma once
#include "lib/Target/Kernels/ControlPlaces.h"
#include "lib/Target/Kernels/ElementBuilder.h"

namespace sprig {

class RegionBuffers {
public:
  /// Errors number the region's operations from `firstOperation` of the kernel on.
  RegionBuffers(ElementBuilder &kernel, mlir::Block &block, llvm::ArrayRef<mlir::Value> arguments,
                const RegionPlaces &places, int32_t firstOperation);
  /// Sets where a result lies; before layOut.
  void place(mlir::Value result, mlir::Value buffer) { buffers[result] = buffer; }
  mlir::Value bufferOf(mlir::Value value) const { return buffers.lookup(value); }
  /// The number after those of the region.
  int32_t nextOperation() const;

protected:
  /// Makes the buffers of all results.
  void layOut();

  mlir::Block &block;
  const int32_t firstOperation;

private:
  ElementBuilder &k;
  const RegionPlaces &places;
  llvm::DenseMap<mlir::Value, mlir::Value> buffers;
};

/// What a loop carries, and its invariants, as they lie.
class LoopBuffers {
public:
  LoopBuffers(ElementBuilder &kernel, kernel::DispatchOp dispatch, const WhilePlaces &places)
      : k(kernel), dispatch(dispatch), places(places) {}
  virtual ~LoopBuffers() = default;
  /// Copies the first values to where they are carried.
  void start();
  /// Those of the regions' arguments; after start.
  llvm::ArrayRef<mlir::Value> arguments() const { return buffers; }
  /// Sets where the results of a step lie that are written in place of carried ones.
  void placeResults(RegionBuffers &step) const;
  /// Copies the next values to where they are carried, after a step.
  void carryOver(const RegionBuffers &step);

private:
  /// Copies all elements of a buffer to one of as many, in all copies an element by the same thread.
  virtual void copy(mlir::Value from, mlir::Value to) = 0;
  /// The threads that copy meet, and see what each has written.
  virtual void meet() {}

  ElementBuilder &k;
  kernel::DispatchOp dispatch;
  const WhilePlaces &places;
  llvm::SmallVector<mlir::Value> buffers;
};

} // namespace sprig
