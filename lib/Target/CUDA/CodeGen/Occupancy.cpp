#include "lib/Target/CUDA/CodeGen/Occupancy.h"
#include "lib/Machine/CudaModel.h"

using namespace sprig;
using namespace sprig::cuda;

int64_t sprig::cuda::blocksOnMultiprocessor(const CudaArch &arch, const KernelUsage &usage, const LaunchShape &launch) {
  const machine::CudaDevice *device = machine::findCudaDevice(arch.name());
  return device ? machine::blocksOnMultiprocessor(*device, usage.registers, usage.sharedBytes + launch.sharedBytes,
                                                  launch.threads)
                : 0;
}
