// Passes over programs of many ranks (Passes.td). For sprig-opt.
#pragma once
#include "dialects/Dist/Dist.h"
#include "dialects/NN/NNDialect.h"
#include "mlir/Pass/Pass.h"

namespace sprig {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "lib/Shard/Passes.h.inc"

} // namespace sprig
