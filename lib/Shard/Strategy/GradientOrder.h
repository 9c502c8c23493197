// The order in which a backward pass makes the gradients of parameters.
// For steps of several ranks, whose gradients leave in that order.
#pragma once
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>
#include <vector>

namespace sprig::shard {

/// Indices of these parameters of a network, or of the step that begins with it: those that its operations need last
/// come first, as a backward pass goes through the operations from the last to the first. It follows from the network
/// alone, not from the batch.
std::vector<size_t> gradientOrder(mlir::func::FuncOp forward, llvm::ArrayRef<std::string> names);

} // namespace sprig::shard
