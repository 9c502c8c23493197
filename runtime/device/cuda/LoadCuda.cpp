// In libsprig_rt.so: GPUs are a library of their own, which is loaded when one is asked for.
#include "runtime/base/MemoryCount.h"
#include "runtime/comm/Library.h"
#include "runtime/device/cuda/CudaLibrary.h"
#include "runtime/device/cuda/OpenCuda.h"

namespace sprig::rt::core {

Status openCuda(uint32_t ordinal, std::shared_ptr<Device> &device) {
  void *open = nullptr;
  SPRIG_RETURN_IF_ERROR(comm::findFunction("sprig_rt_cuda", "open", "devices of the kind cuda", open),
                        concat("device ", kCudaKind, ":", ordinal));
  Status status;
  reinterpret_cast<OpenCudaFunction *>(open)(ordinal, {countAllocated, countReleased}, device, status);
  return status;
}

} // namespace sprig::rt::core
