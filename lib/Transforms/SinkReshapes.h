// Moves reshapes after elementwise operations, so that they do not stand between a producer and its epilogue.
// For the fuse pass, before it forms groups.
#pragma once
#include "mlir/IR/Block.h"

namespace sprig {
void sinkReshapes(mlir::Block &block);
} // namespace sprig
