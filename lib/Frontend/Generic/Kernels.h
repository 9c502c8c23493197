// The kernels of KernelList.h as functions of this process, for the instruction set that the runtime picks.
// For the generic operations. Any thread may call.
#pragma once
#include "lib/Frontend/Generic/KernelList.h"
#include "sprig/rt/kernel.h"

namespace sprig::frontend::generic {

/// 2, 3 or 4: x86-64-v2, -v3, -v4. The best that the machine has and SPRIG_CPU allows; 0: none.
int isaLevel();

/// The kernel of a group for elements of `type` (a cast's result); null where there is none.
sprig_rt_kernel kernelOf(int group, DType type);

/// The first group of an operation, by its name in the dialect without "nn."; -1 where there is none.
int groupOf(const char *op);
/// The group of casts from a type.
int castGroup(DType from);

} // namespace sprig::frontend::generic
