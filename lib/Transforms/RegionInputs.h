// What a branch or a loop takes from outside once its regions are about to become dispatches. For the fuse pass.
#pragma once
#include "dialects/NN/NNControl.h"
#include "lib/Target/Target.h"

namespace sprig {

/// Constants of regions come in as operands: dispatches in a region read memory, and constants have theirs outside of
/// kernels.
void takeConstantsOut(mlir::Operation *control);

/// Layouts of what a loop does not change are made once, in front of it: transposes and the target's own.
void takeLayoutsOut(ir::WhileOp loop, const Target &target);

} // namespace sprig
