// Modules, their functions, and libraries, which are modules of whatever context asks.
#ifndef SPRIG_TEST_GPU_DRIVER_MODULE_H
#define SPRIG_TEST_GPU_DRIVER_MODULE_H

#include "lib/Cubin/Cubin.h"
#include "test/gpu/driver/Cuda.h"
#include "test/gpu/driver/KernelCode.h"

namespace sprig::cuda {

/// What a launch is checked against, from the cubin; of PTX alone, from its image, without registers.
struct FunctionFacts {
  std::vector<gpu::CubinParameter> parameters;
  uint32_t parameterBytes = 0, registers = 0, staticShared = 0, localBytes = 0, constantBytes = 0, maxThreads = 0;
  uint32_t requiredThreads[3] = {0, 0, 0}, cluster[3] = {0, 0, 0};
};

struct CUfunc_st {
  CUmod_st *module = nullptr;
  std::string name;
  FunctionFacts facts;
  const KernelCode *code = nullptr;
  unsigned maxDynamicShared = 0;
  bool largeClusters = false;
};

struct CUmod_st {
  CUctx_st *context = nullptr;
  bool isCubin = false;
  unsigned architecture = 0; // of the cubin, or that the PTX asks for at least
  unsigned ptxVersion = 0;   // 84 for 8.4
  std::shared_ptr<const ModuleCode> code;
  std::map<std::string, std::unique_ptr<CUfunc_st>, std::less<>> functions;
  uint64_t variables = 0; // the address of their block
};

struct CUkern_st {
  CUlib_st *library = nullptr;
  std::string name;
};

struct CUlib_st {
  std::string image;
  std::map<CUctx_st *, CUmodule> modules;
  std::map<std::string, std::unique_ptr<CUkern_st>, std::less<>> kernels;
};

/// A cubin or PTX text as whoever loads it hands it over: a pointer without a length. Takes care where memory ends.
CUresult readImage(const void *image, std::string &bytes, std::string &error);

/// Checks that the device takes the image, and finds its code. `error` says what is wrong.
CUresult loadModule(Driver &driver, CUctx_st &context, const std::string &bytes, CUmodule &module, std::string &error);
void unloadModule(Driver &driver, CUmodule module);
/// The module of a library in a context; loads it at first.
CUresult moduleOf(Driver &driver, CUctx_st &context, CUlibrary library, CUmodule &module);

} // namespace sprig::cuda

#endif
