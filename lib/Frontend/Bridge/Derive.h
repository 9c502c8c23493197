// Runs passes of the compiler on functions of recorded graphs.
// For the files of this folder.
#pragma once
#include "lib/Frontend/Bridge/Lower.h"
#include "mlir/Pass/PassManager.h"

namespace sprig::frontend::bridge {

enum class Derivation {
  differentiate, ///< requests for gradients become expressions
  decompose,     ///< composites become primitives
  simplify,      ///< nothing but what follows the others, too: constants fold, equal operations become one
};

/// Runs them on a module or function. Throws Error (unsupported) with what one refused.
void runPasses(mlir::PassManager &passes, mlir::Operation *op);

/// Results are the function's, bit by bit. Throws as runPasses does.
void derive(mlir::func::FuncOp function, Derivation derivation);

} // namespace sprig::frontend::bridge
