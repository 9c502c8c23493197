// Makes one dispatch of each attention (dialects/NN/AttentionPattern.h). For targets, which do so before others are
// formed (Target::fusePatterns).
#pragma once
#include "dialects/NN/AttentionPattern.h"
#include "mlir/IR/Block.h"

namespace sprig {
/// Of those that are placed here and that the target takes; of others `why` may say why it does not.
void fuseAttention(mlir::Block &block, llvm::function_ref<bool(mlir::Operation *)> isHere,
                   llvm::function_ref<bool(const ir::Attention &, std::string &why)> takes);
} // namespace sprig
