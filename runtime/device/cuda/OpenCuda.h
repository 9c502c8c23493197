// Where the runtime without GPUs is cut off: with SPRIG_RUNTIME_CUDA=OFF nothing else of this folder is built.
#ifndef SPRIG_RUNTIME_DEVICE_CUDA_OPENCUDA_H
#define SPRIG_RUNTIME_DEVICE_CUDA_OPENCUDA_H

#include "runtime/device/Device.h"

namespace sprig::rt::core {

// Fails with UNSUPPORTED where there is no driver, too old a one, or no such device.
Status openCuda(uint32_t ordinal, std::shared_ptr<Device> &device);

} // namespace sprig::rt::core

#endif
