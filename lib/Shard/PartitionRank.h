// The program of one rank from functions of sharded values. For the passes that make it alone, or beside the others,
// and for the one that makes a function's pieces of its samples.
#pragma once
#include "lib/Shard/Mesh.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace sprig::shard {

/// The mesh of the module's shardings; an error where there is none, or the rank is none of its.
mlir::FailureOr<ir::dist::MeshOp> meshToPartition(mlir::ModuleOp module, int64_t rank);

struct PartitionSettings {
  bool together = false;    ///< a function of which all ranks have parts of one size becomes the program of all of them
  bool allowGather = false; ///< of values of samples, in steps
  bool noteMost = false;    ///< operations get the bytes that their results have on the rank of most (dist.most_bytes)
};

/// The function becomes the rank's, of its parts: by the shardings of its arguments, results and operations.
mlir::LogicalResult partitionForRank(mlir::func::FuncOp function, const Mesh &mesh, int64_t rank,
                                     const PartitionSettings &settings = {});
/// All functions and parameters become the rank's.
mlir::LogicalResult partitionForRank(mlir::ModuleOp module, const Mesh &mesh, int64_t rank,
                                     const PartitionSettings &settings = {});

} // namespace sprig::shard
