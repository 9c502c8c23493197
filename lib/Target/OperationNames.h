// What the operations inside of a kernel are called in errors at run time.
// For code generation, which numbers them, and for packages, which hold the names.
#pragma once
#include "dialects/Exec/Exec.h"

namespace sprig {

/// What sprig_rt_kernel_status.op counts: the operations of the kernel's dispatch in order, by the model's names where
/// it has them; those of a composite kernel's parts one after the other.
llvm::SmallVector<std::string> kernelOpNames(exec::KernelOp kernel);

} // namespace sprig
