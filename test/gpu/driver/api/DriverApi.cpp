// The driver itself: start, version, errors, functions by name.
#include "test/gpu/driver/api/Call.h"

#include <cstdio>
#include <cstring>
#include <dlfcn.h>

namespace sprig::cuda {
namespace {

struct ErrorText {
  CUresult error;
  const char *name, *text;
};
constexpr ErrorText errorTexts[] = {
#define SPRIG_CUDA_RESULT(name, value, text) {name, #name, text},
#include "test/gpu/driver/Values.def"
};

const ErrorText *find(CUresult error) {
  for (const ErrorText &known : errorTexts)
    if (known.error == error) return &known;
  return nullptr;
}

struct Function {
  std::string_view name;
  void *address;
};
const Function functions[] = {
#define SPRIG_CUDA_FUNCTION(name, parameters) {#name, reinterpret_cast<void *>(&name)},
#include "test/gpu/driver/Functions.def"
};

} // namespace

CUresult cuInit(unsigned flags) {
  Driver &driver = Driver::get();
  std::lock_guard lock(driver.mutex);
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (!driver.configError.empty()) return CUDA_ERROR_SYSTEM_NOT_READY;
  if (driver.contexts.empty()) return CUDA_ERROR_NO_DEVICE;
  if (!driver.memory.valid()) {
    std::fprintf(stderr,
                 "stand-in: error: the system maps no room for the devices' memory; SPRIG_STANDIN_MEMORY sets a "
                 "smaller one\n");
    return CUDA_ERROR_OUT_OF_MEMORY;
  }
  driver.initialised = true;
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version) {
  if (!version) return CUDA_ERROR_INVALID_VALUE;
  *version = Driver::get().config.driver; // also before cuInit
  return CUDA_SUCCESS;
}

CUresult cuGetErrorName(CUresult error, const char **name) {
  const ErrorText *known = find(error);
  *name = known ? known->name : nullptr;
  return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **text) {
  const ErrorText *known = find(error);
  *text = known ? known->text : nullptr;
  return known ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// By the name without a suffix, as programs ask, the newest form that is here.
CUresult cuGetProcAddress_v2(const char *symbol, void **address, int version, cuuint64_t flags,
                             CUdriverProcAddressQueryResult *status) {
  if (!symbol || !address) return CUDA_ERROR_INVALID_VALUE;
  CUdriverProcAddressQueryResult ignored;
  CUdriverProcAddressQueryResult &answer = status ? *status : ignored;
  *address = nullptr;
  if (version > Driver::get().config.driver) {
    answer = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
    return status ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
  }
  std::string best;
  // Functions of default streams of each thread have other names, which are not implemented.
  if (!(flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)) {
    for (const Function &function : functions) {
      std::string_view rest = function.name;
      if (rest.substr(0, std::strlen(symbol)) != symbol) continue;
      rest.remove_prefix(std::strlen(symbol));
      if (!rest.empty() && rest != "_v2" && rest != "_v3") continue;
      if (best.size() > function.name.size() || (best.size() == function.name.size() && best > function.name)) continue;
      best = function.name;
      *address = function.address;
    }
  }
  if (!*address) {
    std::fprintf(stderr, "stand-in: cuGetProcAddress: %s is not implemented\n", symbol);
    answer = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    return status ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
  }
  answer = CU_GET_PROC_ADDRESS_SUCCESS;
  return CUDA_SUCCESS;
}

} // namespace sprig::cuda
