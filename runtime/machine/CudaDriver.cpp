#include "runtime/machine/CudaDriver.h"

#include <dlfcn.h>

namespace sprig::rt::cuda {

template <typename Function> static bool look(void *library, const char *name, Function &function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

CudaDriver CudaDriver::open(const std::string &library) {
  CudaDriver driver;
  driver.library = library;
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    driver.problem = library + " does not load";
    return driver;
  }
#define SPRIG_CUDA_QUERY(name, parameters)                                                                             \
  if (!look(handle, #name, driver.name)) driver.problem = library + " lacks functions of the driver";
#define SPRIG_CUDA_FUNCTION(name, parameters)                                                                          \
  if (!look(handle, #name, driver.name) && driver.missing.empty()) driver.missing = #name;
#define SPRIG_CUDA_OPTIONAL(name, parameters) look(handle, #name, driver.name);
#include "runtime/machine/CudaFunctions.def"
  return driver;
}

CudaDriver::Answer CudaDriver::start() const {
  Answer answer;
  answer.problem = problem;
  if (!problem.empty()) return answer;
  cuDriverGetVersion(&answer.version); // also where it does not start
  CUresult error = cuInit(0);
  if (error == CUDA_ERROR_NO_DEVICE) return answer;
  if (error != CUDA_SUCCESS)
    answer.problem = library + " does not start (error " + std::to_string(error) + ")";
  else if ((error = cuDeviceGetCount(&answer.devices)) != CUDA_SUCCESS)
    answer.problem = library + " counts no devices (error " + std::to_string(error) + ")";
  return answer;
}

const CudaDriver &CudaDriver::system() {
  static const CudaDriver &driver = *new CudaDriver(open(kLibrary)); // in use by what static objects release
  return driver;
}

std::string CudaDriver::versionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

} // namespace sprig::rt::cuda
