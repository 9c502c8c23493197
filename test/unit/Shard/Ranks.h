// A function against the programs of its ranks: all of them evaluated together in double precision, step by step, with
// the collectives in between done by their definition.
#pragma once
#include "dialects/NN/NNDialect.h"
#include "lib/Interpreter/Interpreter.h"
#include "lib/Shard/Mesh.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>

namespace sprig::shard {

/// What happened in the programs of the ranks: how many of each collective rank 0 has.
struct Outcome {
  std::string error; ///< empty: every rank has its part of every result, to within 1e-12
  llvm::StringMap<int> counts;
};

/// Propagates and partitions the function of `text` for each rank of its mesh, and compares: with the function `@whole`
/// where there is one, else with what it gives undivided.
Outcome compareRanks(mlir::MLIRContext &context, llvm::StringRef text, llvm::ArrayRef<interp::Tensor> inputs);
/// The same on random inputs.
Outcome compareRanks(mlir::MLIRContext &context, llvm::StringRef text, uint64_t seed = 1);
/// On random inputs, and without propagation: arguments and results of which nothing is stated are replicated, and
/// composites are as they are.
Outcome compareUnpropagated(mlir::MLIRContext &context, llvm::StringRef text, uint64_t seed);

} // namespace sprig::shard
