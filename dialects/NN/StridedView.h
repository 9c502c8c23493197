// Where the elements of a value lie in memory when views move none: an offset and a stride for each dimension.
// For fusion, which decides whether a kernel can read through views, and for emitters, which then do. Sizes and strides
// count elements.
#pragma once
#include "mlir/IR/Value.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace sprig::ir {

/// Whether a permutation leaves dimensions of a size other than 1 in their order, so that no element moves.
bool keepsOrder(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> permutation);

llvm::SmallVector<int64_t> rowMajorStrides(llvm::ArrayRef<int64_t> shape);

/// The strides of the same elements in another shape; nothing where no strides say it.
std::optional<llvm::SmallVector<int64_t>> reshapeStrides(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> strides,
                                                         llvm::ArrayRef<int64_t> newShape);

/// Element i of a value is f(root[offset + sum of i_d * strides_d]), where f is a chain of elementwise operations that
/// take splat constants beside it.
struct PointwiseView {
  mlir::Value root;
  int64_t offset = 0;
  llvm::SmallVector<int64_t> strides;         // of the value's dimensions
  llvm::SmallVector<mlir::Operation *> chain; // f, the first to apply first
  llvm::SmallVector<mlir::Operation *> ops;   // all that lies between root and value, in program order

  /// The value itself, as it lies in memory.
  static PointwiseView of(mlir::Value value);
  /// Looks through reshapes, transposes, slices and broadcasts, and through up to two elementwise operations that a
  /// view keeps apart from what computes their operand and that check nothing at run time.
  static PointwiseView through(mlir::Value value);
};

/// An operation's operand that is no splat constant, if it has one of the result's shape and all others are splats.
mlir::Value onlyOperand(mlir::Operation *elementwise);

/// The strides of `value` where it is stored through transposes and reshapes as the last of `views`, whose result is
/// row-major; nothing where no strides say it.
std::optional<llvm::SmallVector<int64_t>> storedStrides(mlir::Value value, llvm::ArrayRef<mlir::Operation *> views);

} // namespace sprig::ir
