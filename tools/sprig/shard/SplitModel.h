// A model that was imported, as the programs of ranks. For the half with LLVM that compiles them.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "tools/sprig/shard/ShardModel.h"

namespace sprig::cli {

/// Each function becomes those of all ranks of the mesh beside each other, or of the one that the request says. Throws
/// usage errors as shardModel.
void splitModel(mlir::ModuleOp module, const ShardRequest &request);

} // namespace sprig::cli
