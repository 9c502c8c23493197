// Evaluation of operations whose operands are constants.
// For the importer (shapes that a model computes), `freeze` and the pass fold-constants. Nothing is reported: what does
// not fold (too large, or an error that run time reports) is left as it is.
#pragma once
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include <optional>

namespace sprig::interp {

struct FoldLimits {
  /// A result with more bytes folds only if it is a splat, or no larger than the operands' bytes together.
  int64_t resultBytes = 1 << 20;
  /// Operations of more floating-point operations stay.
  int64_t flops = int64_t(1) << 28;
  /// Only what kernels compute with the same bits: integers, moves, and results that are rounded once. A logarithm, a
  /// sum or a softmax stays.
  bool exact = false;
  /// Operands without elements are constants, and so are results without elements, whatever the operands are.
  bool empty = false;
};

/// The results of a pure operation on constant operands, or nothing. Elementwise operations and operations that move
/// elements turn splats into splats without expanding them.
std::optional<llvm::SmallVector<mlir::ElementsAttr>>
foldOperation(mlir::Operation *op, llvm::ArrayRef<mlir::ElementsAttr> operands, const FoldLimits &limits = {});

/// The same with the operands read off the operation: they must be results of nn.constant.
std::optional<llvm::SmallVector<mlir::ElementsAttr>> foldOperation(mlir::Operation *op, const FoldLimits &limits = {});

} // namespace sprig::interp
