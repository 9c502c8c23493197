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
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUlibrary = struct CUlib_st *;
using CUkernel = struct CUkern_st *;
using CUhostFn = void (*)(void *);
using CUdevice_attribute = unsigned;
using CUpointer_attribute = unsigned;
using CUdriverProcAddressQueryResult = unsigned;

using CUfunction_attribute = unsigned;
using CUjit_option = unsigned;
using CUlibraryOption = unsigned;
using CUlaunchAttributeID = unsigned;
using CUoccupancyB2DSize = size_t (*)(int);

struct CUuuid {
  char bytes[16];
};

struct CUlaunchAttribute {
  CUlaunchAttributeID id;
  char pad[8 - sizeof(CUlaunchAttributeID)];
  union {
    char pad[64];
    int cooperative;
    struct {
      unsigned x, y, z;
    } clusterDim;
    int priority;
  } value;
};

struct CUlaunchConfig {
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  CUstream hStream;
  CUlaunchAttribute *attrs;
  unsigned numAttrs;
};

} // namespace sprig::cuda

#endif
