// Runs passes of the compiler on functions of recorded graphs.
// For the files of this folder.
#pragma once
#include "lib/Frontend/Bridge/Lower.h"

namespace sprig::frontend::bridge {

enum class Derivation {
  differentiate, ///< requests for gradients become expressions
  decompose,     ///< composites become primitives
  simplify,      ///< nothing but what follows the others, too: constants fold, equal operations become one
};

/// Results are the function's, bit by bit. Throws Error (unsupported) with what a pass refused.
void derive(mlir::func::FuncOp function, Derivation derivation);

} // namespace sprig::frontend::bridge
