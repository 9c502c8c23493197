// How several ranks share a step: named ways, each of which states shardings of a step of all samples. Propagation and
// partition (lib/Shard) do the rest.
// For the phase that states what the options name, and for whoever lists or refuses names. A new way is a file beside
// Data.cpp, a line in the table and its name in StrategyNames.h.
#pragma once
#include "lib/Shard/Mesh.h"
#include "lib/Shard/Strategy/StrategyNames.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sprig::shard {

struct StrategyOptions {
  std::vector<int64_t> weights; ///< of the ranks' shares of samples; none: even ones
};

struct Strategy {
  StrategyName name;
  /// States shardings of the module's steps, which bear the marks that lib/Training writes (dialects/NN/Attributes.h).
  /// Adds nothing but dist.shard and attributes of shardings, before gradients become operations.
  mlir::LogicalResult (*state)(mlir::ModuleOp module, const Mesh &mesh, const StrategyOptions &options);
};

/// In the order of kStrategyNames.
llvm::ArrayRef<Strategy> strategies();

mlir::LogicalResult stateData(mlir::ModuleOp module, const Mesh &mesh, const StrategyOptions &options);
mlir::LogicalResult stateZero(mlir::ModuleOp module, const Mesh &mesh, const StrategyOptions &options);

/// What strategies over samples have in common: samples along the axis "data", gradients as `ofGradient` says of their
/// types, all numbers that a step gives whole. Values that are stated bear the name that profiles and errors call them.
mlir::LogicalResult stateSamples(mlir::ModuleOp module, const Mesh &mesh, const StrategyOptions &options,
                                 llvm::function_ref<Sharding(mlir::RankedTensorType)> ofGradient);

/// A dist.shard behind a value, or at the builder where that comes later; what reads the value behind it reads it
/// instead.
mlir::Value stateValue(mlir::OpBuilder &b, mlir::Value value, const Mesh &mesh, const Sharding &sharding,
                       llvm::StringRef name);

/// Takes the marks away that only strategies read.
void dropMarks(mlir::ModuleOp module);

} // namespace sprig::shard
