// The program of one rank from functions of sharded values. For the passes that make it alone, or beside the others.
#pragma once
#include "lib/Shard/Mesh.h"
#include "mlir/IR/BuiltinOps.h"

namespace sprig::shard {

/// The mesh of the module's shardings; an error where there is none, or the rank is none of its.
mlir::FailureOr<ir::dist::MeshOp> meshToPartition(mlir::ModuleOp module, int64_t rank);

/// Functions and parameters become the rank's parts. With `together` a function of which all ranks have parts of one
/// size becomes the program of all of them.
mlir::LogicalResult partitionForRank(mlir::ModuleOp module, const Mesh &mesh, int64_t rank, bool together = false);

} // namespace sprig::shard
