// Types of CUDA's driver interface, as facts. In a namespace of their own, and apart from the functions (Cuda.h), so
// that tests/CudaFactsCheck.cpp can hold them beside a toolkit's cuda.h. Enumerations are plain unsigned numbers.
#ifndef SPRIG_TEST_GPU_DRIVER_TYPES_H
#define SPRIG_TEST_GPU_DRIVER_TYPES_H

#include <cstddef>
#include <cstdint>

namespace sprig::cuda {

using CUdevice = int;
using CUdeviceptr = unsigned long long;
using cuuint64_t = uint64_t;
using CUcontext = struct CUctx_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUhostFn = void (*)(void *);
using CUdevice_attribute = unsigned;
using CUpointer_attribute = unsigned;
using CUdriverProcAddressQueryResult = unsigned;

struct CUuuid {
  char bytes[16];
};

} // namespace sprig::cuda

#endif
