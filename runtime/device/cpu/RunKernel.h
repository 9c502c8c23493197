// Calls a kernel: one place for what a sanitizer must be told of it.
#ifndef SPRIG_RUNTIME_DEVICE_CPU_RUNKERNEL_H
#define SPRIG_RUNTIME_DEVICE_CPU_RUNKERNEL_H

#include "sprig/rt/kernel.h"

namespace sprig::rt::core {

// Compiled kernels carry no type for the function sanitizer to look at.
#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
inline int32_t runKernel(sprig_rt_kernel kernel, const sprig_rt_args &args) {
  return kernel(&args);
}

} // namespace sprig::rt::core

#endif
