// Makes one dispatch of each attention (dialects/NN/AttentionPattern.h). For the fuse pass, before it forms groups.
#pragma once
#include "mlir/IR/Block.h"

namespace sprig {
void fuseAttention(mlir::Block &block);
} // namespace sprig
