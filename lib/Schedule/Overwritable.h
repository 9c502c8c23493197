// Which operands of a kernel its results may be written over. For whoever joins dispatches to one kernel, and for the
// check of programs that were written by hand.
#pragma once
#include "dialects/Exec/Exec.h"
#include "lib/Target/Target.h"

namespace sprig {

/// The dispatch that computes the result may do so, and every other one that reads the operand comes before it. Of
/// kernels that compute tensors.
llvm::SmallVector<exec::OverwriteAttr> overwritableOperands(exec::KernelOp kernel, const Target &target);

} // namespace sprig
