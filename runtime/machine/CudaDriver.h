// NVIDIA's driver library, found at run time: a table of its functions. For the runtime's CUDA devices and for whoever
// only wants to know what is there. Nothing is loaded before somebody asks.
#ifndef SPRIG_RUNTIME_MACHINE_CUDADRIVER_H
#define SPRIG_RUNTIME_MACHINE_CUDADRIVER_H

#include "runtime/machine/CudaTypes.h"

#include <string>

namespace sprig::rt::cuda {

struct CudaDriver {
#define SPRIG_CUDA_FUNCTION(name, parameters) CUresult(*name) parameters = nullptr;
#include "runtime/machine/CudaFunctions.def"

  static constexpr const char *kLibrary = "libcuda.so.1";
  // The oldest driver that runs what Sprig makes, as cuDriverGetVersion has it: that of CUDA 12.0.
  static constexpr int kLeastVersion = 12000;

  std::string library; // as it was looked for
  std::string problem; // why nothing can be asked of it: "libcuda.so.1 does not load"; empty: something can
  std::string missing; // a function that only running needs and that is not there

  // What it answers when it is started, which may take a second the first time.
  struct Answer {
    std::string problem; // why it has no devices: "libcuda.so.1 does not start (error 802)"
    int version = 0;     // 12040 is 12.4; 0: unknown
    int devices = 0;
  };
  Answer start() const;

  // Loads a library, which is not closed again: a driver that has been started does not like to be unloaded.
  static CudaDriver open(const std::string &library);
  // The system's, loaded with the first call.
  static const CudaDriver &system();

  // "CUDA_ERROR_INVALID_VALUE"; "error 1" where the driver has no name for it.
  std::string errorName(CUresult result) const {
    const char *name = nullptr;
    cuGetErrorName(result, &name);
    return name ? name : "error " + std::to_string(result);
  }

  // "13.0"
  static std::string versionText(int version);
};

} // namespace sprig::rt::cuda

#endif
