// What loops over a common shape can hold: the one rule for fusion, which grows groups of operations, and for the
// analysis of dispatches, which makes loops of them.
#pragma once
#include "mlir/IR/Operation.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace sprig {

struct LoopSpace {
  llvm::SmallVector<int64_t> shape;
  /// Once a reduction is among the operations; all of them reduce the same axes of the shape.
  bool hasReduction = false;
  llvm::SmallVector<int64_t> axes;

  /// Whether loops know the operation and, of a reduction, whether it runs over this space. `isMember`: whether another
  /// operation is in the same loops.
  bool takes(mlir::Operation *op, llvm::function_ref<bool(mlir::Operation *)> isMember) const;
  /// Whether a value of the loops can leave them: it has the shape, or one element for each row that is reduced.
  bool mayYield(mlir::Value value) const;
};

/// What computes each result element on its own from several operand elements.
bool isLoopGenerator(mlir::Operation *op);

} // namespace sprig
