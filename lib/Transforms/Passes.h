// The passes from nn to nn. For the pipeline, which builds phases of them, and sprig-opt, which offers each alone.
// Every pass is declared in Passes.td; options too.
// The file of a pass defines GEN_PASS_DEF_<PASS> in front of this header, for the base class that it gets: so it is
// read more than once.
#ifndef SPRIG_TRANSFORMS_PASSES_H
#define SPRIG_TRANSFORMS_PASSES_H
#include "dialects/Kernel/KernelDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#endif

namespace sprig {
#include "lib/Transforms/Passes.h.inc"
} // namespace sprig
