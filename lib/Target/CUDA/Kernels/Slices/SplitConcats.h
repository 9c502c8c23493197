// Concatenations of more operands than one kernel of a GPU takes.
// For CudaTarget::fusePatterns, after which nothing joins nested concatenations again.
#pragma once
#include "mlir/IR/Block.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace sprig::cuda {

/// Concatenations of many operands become some of a few neighbours each, and one of their results: a kernel has a
/// parameter for each buffer, whose room is bounded, and each of its threads looks for its operand among all.
void splitConcatsForCuda(mlir::Block &block, llvm::function_ref<bool(mlir::Operation *)> isHere);

} // namespace sprig::cuda
