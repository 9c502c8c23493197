// In place of everything else here, in a runtime without GPUs.
#include "runtime/device/cuda/OpenCuda.h"

namespace sprig::rt::core {

Status openCuda(uint32_t ordinal, std::shared_ptr<Device> &) {
  return {SPRIG_RT_UNSUPPORTED,
          concat("device ", kCudaKind, ":", ordinal, ": this runtime was built without GPUs (SPRIG_RUNTIME_CUDA=OFF)")};
}

} // namespace sprig::rt::core
