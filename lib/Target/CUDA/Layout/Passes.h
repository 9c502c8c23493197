// The passes that choose how networks lie in a GPU's memory. For the target, which orders them, and sprig-opt, which
// offers each alone. Declared in Passes.td.
#pragma once
#include "dialects/NN/NNDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace sprig::cuda {
#define GEN_PASS_DECL
#include "lib/Target/CUDA/Layout/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "lib/Target/CUDA/Layout/Passes.h.inc"
} // namespace sprig::cuda
