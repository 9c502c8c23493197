#include "runtime/device/cuda/CudaLibrary.h"
#include "runtime/base/MemoryCount.h"
#include "runtime/device/cuda/OpenCuda.h"

namespace sprig::rt::core {
namespace {

MemoryCounters counters = {};

} // namespace

// There is one count in a process, the runtime's.
void countAllocated(uint64_t asked, uint64_t granted) { counters.allocated(asked, granted); }
void countReleased(uint64_t asked, uint64_t granted) { counters.released(asked, granted); }

} // namespace sprig::rt::core

using namespace sprig::rt::core;

extern "C" __attribute__((visibility("default"))) const char *sprig_rt_cuda_version() { return SPRIG_RT_VERSION; }

extern "C" __attribute__((visibility("default"))) void
sprig_rt_cuda_open(uint32_t ordinal, const MemoryCounters &given, std::shared_ptr<Device> &device, Status &status) {
  counters = given;
  status = openCuda(ordinal, device);
}
