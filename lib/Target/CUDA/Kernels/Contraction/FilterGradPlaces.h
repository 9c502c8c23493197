// Where the elements of a filter's gradient as a product are in memory (FilterGradForm.h): of the cotangent, of what
// windows see and of the result. For the emitters that compute it by tiles, of one group and one part.
#pragma once
#include "lib/Target/CUDA/Kernels/Contraction/Epilogue.h"
#include "lib/Target/CUDA/Kernels/Contraction/FilterGradForm.h"
#include "lib/Target/CUDA/Kernels/Contraction/Index32.h"

namespace sprig::cuda {

/// The gradient of a dispatch, or its parts, which nothing follows.
mlir::Operation *filterGradientOf(kernel::DispatchOp dispatch);

class FilterGradPlaces {
public:
  FilterGradPlaces(ElementBuilder &kernel, mlir::Operation *op, const FilterGradForm &form, mlir::Value part,
                   mlir::Value group)
      : k(kernel), n(kernel), op(op), form(form), part(part), group(group) {}

  mlir::Value cotangentBuffer() { return bufferOf(op->getOperand(1)); }
  mlir::Value inputBuffer() { return bufferOf(op->getOperand(0)); }
  mlir::Value cotangentAt(mlir::Value row, mlir::Value step);
  /// The element that the window of a column sees in a step, and whether there is one (null: always).
  struct Seen {
    mlir::Value offset, isThere;
  };
  Seen seenAt(mlir::Value column, mlir::Value step);

  /// Stores an epilogue's lanes from a row and a column on, if they exist (null: they do).
  void store(Epilogue &epilogue, bool isFlat, mlir::ValueRange sums, mlir::Value row, mlir::Value column,
             mlir::Value exists);

private:
  mlir::Value bufferOf(mlir::Value operand) { return k.flat(k.bufferOf(cast<mlir::BlockArgument>(operand))); }

  ElementBuilder &k;
  Index32 n;
  mlir::Operation *op;
  const FilterGradForm &form;
  const mlir::Value part, group;
};

} // namespace sprig::cuda
