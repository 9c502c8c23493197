// What a module must be, for passes to rely on it: checked where modules come from users.
// For readText and for the phase pipelines of sprig-opt. Reports through diagnostics.
#pragma once
#include "lib/Pipeline/Phases.h"
#include "mlir/IR/BuiltinOps.h"

namespace sprig {

/// Every type is one that programs hold, functions have a body of one block and stand in the module itself, attributes
/// are not nested deeper than passes and printers can follow.
mlir::LogicalResult checkProgram(mlir::ModuleOp module);

/// What checkProgram does, that there is an entry, and that only operations stand there that a program may have at the
/// boundary after this phase.
mlir::LogicalResult checkProgramAt(mlir::ModuleOp module, const Phase &phase);

} // namespace sprig
