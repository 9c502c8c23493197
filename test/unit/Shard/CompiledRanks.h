// Programs of ranks, compiled and run: threads as ranks, each with the package of its own partition.
#pragma once
#include "lib/Shard/Mesh.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Pass/Pass.h"
#include "sprig/compile.h"
#include <string>
#include <vector>

namespace sprig::shard {

using Floats = std::vector<float>;

std::string print(mlir::ModuleOp module);
inline mlir::func::FuncOp functionOf(mlir::ModuleOp module) { return *module.getOps<mlir::func::FuncOp>().begin(); }
bool runPass(mlir::ModuleOp module, std::unique_ptr<mlir::Pass> pass);

/// A rank's elements of a tensor.
Floats partOfRank(const Floats &whole, mlir::RankedTensorType type, const Mesh &mesh, const Sharding &sharding,
                  int64_t rank);

/// Calls of one program, one behind the other: the results of each. Inputs and results of f32 and of integers of at
/// most 32 bits, whose numbers a float has exactly here.
std::vector<std::vector<Floats>> call(Program &program, mlir::TypeRange types,
                                      llvm::ArrayRef<std::vector<Floats>> calls);

/// What a function of whole tensors gives on one rank.
std::vector<std::vector<Floats>> runWhole(const std::string &text, mlir::TypeRange types,
                                          llvm::ArrayRef<std::vector<Floats>> calls);

/// What each rank of a module whose shardings are known gives, by rank, call and result.
struct RankResults {
  std::string error; ///< of the first rank that has one, with its program
  std::vector<std::vector<std::vector<Floats>>> results;
};
RankResults runRanks(mlir::ModuleOp sharded, llvm::ArrayRef<std::vector<Floats>> calls);

} // namespace sprig::shard
