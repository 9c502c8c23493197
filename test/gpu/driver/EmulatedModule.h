// Kernels of an emulation image (test/gpu/image) as the stand-in runs them: by the emulator, thread by thread.
#ifndef SPRIG_TEST_GPU_DRIVER_EMULATEDMODULE_H
#define SPRIG_TEST_GPU_DRIVER_EMULATEDMODULE_H

#include "test/gpu/driver/KernelCode.h"

namespace sprig::cuda {

/// None, with `error`, where the file is no image.
std::shared_ptr<ModuleCode> loadEmulatedModule(const std::string &path, std::string &error);

} // namespace sprig::cuda

#endif
