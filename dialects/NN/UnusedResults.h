// Operations whose regions yield their results, without those that nothing uses.
#pragma once
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/BitVector.h"

namespace sprig::ir {

/// Replaces the operation by one without the unused results, which each of its regions yields at their places.
void dropResults(mlir::PatternRewriter &rewriter, mlir::Operation *op, const llvm::BitVector &unused);

} // namespace sprig::ir
