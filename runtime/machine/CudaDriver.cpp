#include "runtime/machine/CudaDriver.h"

#include <cstring>
#include <dlfcn.h>
#include <type_traits>

namespace sprig::rt::cuda {

namespace {

// Where a function's address goes, and what it is for.
struct Place {
  enum class Need : uint8_t { query, run, nothing } need;
  uint16_t offset;
  const char *name;
};

constexpr Place kPlaces[] = {
#define SPRIG_CUDA_QUERY(name, parameters) {Place::Need::query, offsetof(CudaDriver, name), #name},
#define SPRIG_CUDA_FUNCTION(name, parameters) {Place::Need::run, offsetof(CudaDriver, name), #name},
#define SPRIG_CUDA_OPTIONAL(name, parameters) {Place::Need::nothing, offsetof(CudaDriver, name), #name},
#include "runtime/machine/CudaFunctions.def"
};
static_assert(std::is_standard_layout_v<CudaDriver>);

} // namespace

CudaDriver CudaDriver::open(const std::string &library) {
  CudaDriver driver;
  driver.library = library;
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    driver.problem = library + " does not load";
    return driver;
  }
  for (const Place &place : kPlaces) {
    void *function = dlsym(handle, place.name);
    std::memcpy(reinterpret_cast<char *>(&driver) + place.offset, &function, sizeof function);
    if (function) continue;
    if (place.need == Place::Need::query) driver.problem = library + " lacks functions of the driver";
    if (place.need == Place::Need::run && driver.missing.empty()) driver.missing = place.name;
  }
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
