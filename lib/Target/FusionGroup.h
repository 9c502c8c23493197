// Operations of a block that are to become one kernel. From the fuse pass, which grows them, to targets, which say what
// may belong to one.
#pragma once
#include "mlir/IR/Operation.h"
#include "llvm/ADT/SetVector.h"

namespace sprig {

struct FusionGroup {
  /// In program order.
  llvm::SetVector<mlir::Operation *> ops;
  /// The contraction or generator (FusionKind) that the others follow; null for loops and for what stands alone.
  mlir::Operation *root = nullptr;
  /// Loops alone: the shape that all members share, and the reduced axes once a reduction is a member.
  bool isLoop = false;
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<int64_t> axes;
  bool hasReduction = false;

  bool contains(mlir::Operation *op) const { return op && ops.contains(op); }
};

} // namespace sprig
