// Launches of kernels in streams.
#include "test/gpu/driver/Launch.h"
#include "test/gpu/driver/api/Call.h"

#include <cstdio>

namespace sprig::cuda {
namespace {

CUresult launch(const char *name, CUfunction handle, const LaunchShape &shape, CUstream stream, void **parameters,
                void **extra) {
  return callInStream(name, stream, [&](Driver &driver, CUstream_st &stream) -> CUresult {
    CUfunction function = nullptr;
    SPRIG_CUDA_TRY(driver.function(*stream.context, handle, function));
    KernelLaunch launch;
    SPRIG_CUDA_TRY(prepareLaunch(driver, *stream.context, function, shape, parameters, extra, launch));
    return driver.enqueue(stream, std::move(launch));
  });
}

} // namespace

CUresult cuLaunchKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                        unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream stream, void **parameters,
                        void **extra) {
  LaunchShape shape = {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, {}, sharedBytes};
  return launch("cuLaunchKernel", function, shape, stream, parameters, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned gridX, unsigned gridY, unsigned gridZ, unsigned blockX,
                                   unsigned blockY, unsigned blockZ, unsigned sharedBytes, CUstream stream,
                                   void **parameters) {
  LaunchShape shape = {{gridX, gridY, gridZ}, {blockX, blockY, blockZ}, {}, sharedBytes, true};
  return launch("cuLaunchCooperativeKernel", function, shape, stream, parameters, nullptr);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters, void **extra) {
  if (!config) return CUDA_ERROR_INVALID_VALUE;
  LaunchShape shape = {{config->gridDimX, config->gridDimY, config->gridDimZ},
                       {config->blockDimX, config->blockDimY, config->blockDimZ},
                       {},
                       config->sharedMemBytes};
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const CUlaunchAttribute &attribute = config->attrs[i];
    switch (attribute.id) {
    case CU_LAUNCH_ATTRIBUTE_IGNORE:
    case CU_LAUNCH_ATTRIBUTE_PRIORITY: break;
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE: shape.cooperative = attribute.value.cooperative; break;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      shape.hasCluster = true;
      shape.cluster = {attribute.value.clusterDim.x, attribute.value.clusterDim.y, attribute.value.clusterDim.z};
      break;
    default:
      std::fprintf(stderr, "stand-in: cuLaunchKernelEx: attribute %u is not supported\n", attribute.id);
      return CUDA_ERROR_NOT_SUPPORTED;
    }
  }
  return launch("cuLaunchKernelEx", function, shape, config->hStream, parameters, extra);
}

} // namespace sprig::cuda
