// Kernels of the processor: images of machine code, one for each level of the instruction set.
#ifndef SPRIG_RUNTIME_DEVICE_CPU_CPUCODE_H
#define SPRIG_RUNTIME_DEVICE_CPU_CPUCODE_H

#include "runtime/device/HostCode.h"
#include "runtime/device/cpu/CodeImage.h"
#include "runtime/device/cpu/RunKernel.h"

namespace sprig::rt::core {

class CpuCode final : public HostCode {
public:
  sprig_rt_kernel kernel(uint32_t index) const { return mapped.kernel(index); }
  int32_t run(uint32_t index, const sprig_rt_args &args) const override { return runKernel(kernel(index), args); }

private:
  friend class CpuCodeKind;
  CodeImage mapped;
};

// Takes the best image that this processor has; none for a program that has no kernels.
const HostCodeKind &cpuCodeKind();

} // namespace sprig::rt::core

#endif
