// What a kernel computes, as the targets get it: the body of an exec.kernel.
#pragma once
#include "mlir/IR/Block.h"

namespace sprig {

/// A block of dispatches, and reshapes between them, that ends in a yield of some of their results.
struct KernelGraph {
  mlir::Block *body;
  /// Offset in scratch memory of each result that is not yielded, in order; after what the dispatches need themselves.
  llvm::ArrayRef<int64_t> places;
  int64_t scratchBytes = 0;
};

} // namespace sprig
