// What a step is expected to take on a machine, by its model, before it is compiled for it.
// For who chooses between forms of a step: one rank with all threads, or several with shares of them.
#pragma once
#include "mlir/IR/BuiltinOps.h"
#include "sprig/options.h"

namespace sprig {

/// Seconds of the module's programs, which the phases up to `schedule` make of it: commands one after the other on so
/// many threads of options.threads as the runtime gives each, and collectives as their meshes say, none of them hidden.
double expectedStepSeconds(mlir::ModuleOp module, const CompileOptions &options);

} // namespace sprig
