// Passes over entries that take several lengths (Passes.td). For the pipeline and sprig-opt.
#pragma once
#include "dialects/NN/NNDialect.h"
#include "mlir/Pass/Pass.h"

namespace sprig {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Lengths/Passes.h.inc"

} // namespace sprig
