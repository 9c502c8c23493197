// The few functions of CUDA's driver that the example uses, so that it builds without a toolkit; a program that has one
// includes cuda.h, or the runtime's cuda_runtime_api.h with cudaMalloc and cudaStream_t, in its place.
#pragma once
#include <dlfcn.h>
#include <initializer_list>
#include <stdexcept>
#include <string>

namespace example {

using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUstream = struct CUstream_st *;

class Driver {
public:
  void usePrimaryContext(int number) {
    CUcontext context = nullptr;
    device = number;
    call<int(unsigned)>("cuInit", 0u);
    call<int(CUcontext *, int)>("cuDevicePrimaryCtxRetain", &context, device);
    call<int(CUcontext)>("cuCtxSetCurrent", context);
  }
  CUstream makeStream() {
    CUstream stream = nullptr;
    call<int(CUstream *, unsigned)>("cuStreamCreate", &stream, 1u); // CU_STREAM_NON_BLOCKING
    return stream;
  }
  CUdeviceptr allocate(size_t bytes) {
    CUdeviceptr address = 0;
    call<int(CUdeviceptr *, size_t)>("cuMemAlloc_v2", &address, bytes);
    return address;
  }
  void copyToGpu(CUdeviceptr to, const void *from, size_t bytes, CUstream stream) {
    call<int(CUdeviceptr, const void *, size_t, CUstream)>("cuMemcpyHtoDAsync_v2", to, from, bytes, stream);
  }
  void copyToHost(void *to, CUdeviceptr from, size_t bytes, CUstream stream) {
    call<int(void *, CUdeviceptr, size_t, CUstream)>("cuMemcpyDtoHAsync_v2", to, from, bytes, stream);
  }
  void wait(CUstream stream) { call<int(CUstream)>("cuStreamSynchronize", stream); }
  void release(std::initializer_list<CUdeviceptr> memory, CUstream stream) {
    for (CUdeviceptr address : memory) call<int(CUdeviceptr)>("cuMemFree_v2", address);
    call<int(CUstream)>("cuStreamDestroy_v2", stream);
    call<int(int)>("cuDevicePrimaryCtxRelease_v2", device);
  }

private:
  template <typename Function, typename... Arguments> void call(const char *name, Arguments... arguments) {
    auto *function = library ? reinterpret_cast<Function *>(dlsym(library, name)) : nullptr;
    if (!function) throw std::runtime_error(std::string("libcuda.so.1 has no ") + name);
    if (int result = function(arguments...))
      throw std::runtime_error(std::string(name) + " answers with error " + std::to_string(result));
  }
  void *library = dlopen("libcuda.so.1", RTLD_NOW);
  int device = 0;
};

} // namespace example
