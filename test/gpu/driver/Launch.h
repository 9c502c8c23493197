// Launches of kernels: their parameters, taken by the function's layout when they are queued, and what a device lets
// run.
#ifndef SPRIG_TEST_GPU_DRIVER_LAUNCH_H
#define SPRIG_TEST_GPU_DRIVER_LAUNCH_H

#include "test/gpu/driver/DeviceKinds.h"
#include "test/gpu/driver/Module.h"

namespace sprig::cuda {

/// What is launched. Keeps the code, so that a module may be unloaded while launches of it are queued.
struct KernelLaunch {
  CUfunction function = nullptr;
  std::string name;
  LaunchShape shape;
  std::vector<unsigned char> parameters;
  std::shared_ptr<const ModuleCode> module;
  const KernelCode *code = nullptr;
  uint64_t variables = 0;
};

/// Checks shape and resources against device and function, and takes the parameters from either of their two forms.
/// What is refused is complained of with the kernel's name and the numbers.
CUresult prepareLaunch(Driver &driver, CUctx_st &context, CUfunction function, const LaunchShape &shape,
                       void **parameters, void **extra, KernelLaunch &launch);
CUresult perform(Driver &driver, const OperationRef &operation, const KernelLaunch &launch);

/// Blocks of the function that one multiprocessor holds at a time.
unsigned residentBlocks(const DeviceKind &kind, const CUfunc_st &function, unsigned threads, unsigned dynamicShared);

} // namespace sprig::cuda

#endif
