//===- KernelOps.td - All of the kernel dialect, for its reference and its tests ---------------------------------------===//

include "dialects/Kernel/KernelAttributes.td"
include "dialects/Kernel/KernelDispatch.td"
include "dialects/Kernel/KernelContraction.td"
