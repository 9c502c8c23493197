// What libsprig_rt_cuda.so has, by its name, and what it needs of the runtime that loads it. Both are of one version:
// it has what it calls of the runtime's code itself, but for what counts.
#ifndef SPRIG_RUNTIME_DEVICE_CUDA_CUDALIBRARY_H
#define SPRIG_RUNTIME_DEVICE_CUDA_CUDALIBRARY_H

#include "runtime/device/Device.h"

namespace sprig::rt::core {

// As MemoryCount.h has them.
struct MemoryCounters {
  void (*allocated)(uint64_t asked, uint64_t granted);
  void (*released)(uint64_t asked, uint64_t granted);
};

using OpenCudaFunction = void(uint32_t ordinal, const MemoryCounters &counters, std::shared_ptr<Device> &device,
                              Status &status);

} // namespace sprig::rt::core

#endif
