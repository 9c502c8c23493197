// Shardings as users write them: a mesh, and by which of its axes things of a program that have a name are split.
// For the pipeline, which refuses what cannot be meant before anything is compiled, and for the pass state-shardings.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"
#include <string>

namespace sprig::shard {

/// Adds a mesh, as "data=2,model=4", and states shardings on it, each as "NAME=data,-": of the input, the output or
/// the parameter of that name the axes of each dimension, "-" for none, several of one joined by '+'. Fails on what is
/// no mesh, on names that the module does not have, and on shardings that do not fit what they name; the module is then
/// left as it is by those before.
llvm::Error stateShardings(mlir::ModuleOp module, llvm::StringRef mesh, llvm::ArrayRef<std::string> shardings);

/// The same errors, and that of a rank which is none of the mesh's (below 0: of none); nothing is stated.
llvm::Error checkShardings(mlir::ModuleOp module, llvm::StringRef mesh, llvm::ArrayRef<std::string> shardings,
                           int64_t rank);

} // namespace sprig::shard
