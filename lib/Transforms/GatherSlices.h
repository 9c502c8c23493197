// Many slices of one value become gathers at constant indices: their kernels would differ in nothing but a number that
// is part of the code. For the fuse pass.
#pragma once
#include "mlir/IR/Block.h"

namespace sprig {

/// Replaces slices of a value that differ along one axis in where they begin, where there are so many that compiling a
/// kernel for each would take longer than anything else. The gathers of one size share a kernel; no bit changes.
void gatherSlices(mlir::Block &block);

} // namespace sprig
