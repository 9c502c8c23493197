// Passes over entries that take several lengths (Passes.td). For the pipeline and sprig-opt.
// The file of a pass defines GEN_PASS_DEF_<PASS> in front of this header, for the base class that it gets: so it is
// read more than once.
#ifndef SPRIG_LENGTHS_PASSES_H
#define SPRIG_LENGTHS_PASSES_H
#include "dialects/NN/NNDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#endif

namespace sprig {
#include "lib/Lengths/Passes.h.inc"
} // namespace sprig
