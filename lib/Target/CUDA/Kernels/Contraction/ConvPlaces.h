// Where the elements of a convolution's product are in memory (ConvForm.h): of its filter, of what windows see and of
// the result. For the emitters that compute it by tiles, of one phase and one group.
#pragma once
#include "lib/Target/CUDA/Kernels/Contraction/ConvForm.h"
#include "lib/Target/CUDA/Kernels/Contraction/Epilogue.h"
#include "lib/Target/CUDA/Kernels/Contraction/Index32.h"

namespace sprig::cuda {

class ConvPlaces {
public:
  /// Numbers of the phase in each dimension.
  ConvPlaces(ElementBuilder &kernel, mlir::Operation *op, const ConvForm &form, llvm::ArrayRef<mlir::Value> phases,
             mlir::Value group);

  /// Steps of the phase, which may be fewer than the form's depth.
  mlir::Value steps();

  /// Where a step is: the first step of its tap, and the tap in each dimension of the phase.
  struct Tap {
    mlir::Value begin;
    llvm::SmallVector<mlir::Value> at;
  };
  Tap tapOf(mlir::Value step);
  /// The taps of slices: where each slice lies in one tap, found once for it, when it is entered.
  struct Taps {
    std::function<void(mlir::Value begin)> enter; // null where each step looks for its own
    std::function<Tap(mlir::Value step)> of;
  };
  Taps taps(bool isOfTap);

  mlir::Value filterBuffer() { return bufferOf(storedFilter(op)); }
  mlir::Value inputBuffer() { return bufferOf(op->getOperand(0)); }
  /// The filter's element. Beyond the taps of the phase one that is in memory.
  mlir::Value filterAt(mlir::Value row, const Tap &tap, mlir::Value channel);
  /// How far it is from that of the window's first tap.
  mlir::Value tapInFilter(const Tap &tap);
  /// Where the window of a column looks at a tap: its sample and position, in each dimension of the operand the
  /// window's origin and the tap's distance from there, and whether an element is there (null: always).
  struct Look {
    llvm::SmallVector<mlir::Value> at, origin, moved;
    mlir::Value isThere;
  };
  Look lookOf(mlir::Value column, const Tap &tap);
  mlir::Value shiftOf(size_t dim) const { return phases[dim].shift; }
  /// The element that the window of a column sees, and whether there is one (null: always).
  struct Seen {
    mlir::Value offset, isThere;
  };
  Seen seenAt(mlir::Value column, const Tap &tap, mlir::Value channel);

  /// Where a column's results are, and whether it has any (null: it does).
  struct Results {
    llvm::SmallVector<mlir::Value> at, place;
    mlir::Value isThere;
  };
  Results resultsOf(mlir::Value column);
  /// Stores an epilogue's lanes from a row and a column on, if they exist (null: they do).
  void store(Epilogue &epilogue, mlir::ValueRange sums, const Results &results, mlir::Value row, mlir::Value exists);

private:
  struct Phase {
    mlir::Value number, shift, firstTap, taps;
  };
  Phase phaseOf(const WindowDim &dim, mlir::Value number);
  mlir::Value bufferOf(mlir::Value operand) { return k.flat(k.bufferOf(cast<mlir::BlockArgument>(operand))); }

  ElementBuilder &k;
  Index32 n;
  mlir::Operation *op;
  const ConvForm &form;
  llvm::SmallVector<Phase> phases;
  llvm::SmallVector<int64_t> inputDistances, outputSizes;
  int64_t inputPlane = 1, outputPlane = 1;
  const mlir::Value group;
};

} // namespace sprig::cuda
