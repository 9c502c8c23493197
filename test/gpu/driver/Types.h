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
using CUgraph = struct CUgraph_st *;
using CUgraphNode = struct CUgraphNode_st *;
using CUgraphExec = struct CUgraphExec_st *;
using CUarray = struct CUarray_st *;
using CUgraphConditionalHandle = cuuint64_t;
using CUgraphNodeType = unsigned;
using CUgraphConditionalNodeType = unsigned;
using CUgraphInstantiateResult = unsigned;
using CUgraphExecUpdateResult = unsigned;
using CUgraphChildGraphNodeOwnership = unsigned;
using CUstreamCaptureMode = unsigned;
using CUstreamCaptureStatus = unsigned;
using CUmemorytype = unsigned;
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

struct CUgraphEdgeData {
  unsigned char from_port, to_port, type, reserved[5];
};

struct CUDA_KERNEL_NODE_PARAMS {
  CUfunction func;
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  void **kernelParams, **extra;
  CUkernel kern;
  CUcontext ctx;
};

struct CUDA_MEMCPY3D {
  size_t srcXInBytes, srcY, srcZ, srcLOD;
  CUmemorytype srcMemoryType;
  const void *srcHost;
  CUdeviceptr srcDevice;
  CUarray srcArray;
  void *reserved0;
  size_t srcPitch, srcHeight;
  size_t dstXInBytes, dstY, dstZ, dstLOD;
  CUmemorytype dstMemoryType;
  void *dstHost;
  CUdeviceptr dstDevice;
  CUarray dstArray;
  void *reserved1;
  size_t dstPitch, dstHeight;
  size_t WidthInBytes, Height, Depth;
};

struct CUDA_MEMSET_NODE_PARAMS {
  CUdeviceptr dst;
  size_t pitch;
  unsigned value, elementSize;
  size_t width, height;
};

struct CUDA_HOST_NODE_PARAMS {
  CUhostFn fn;
  void *userData;
};

struct CUDA_CONDITIONAL_NODE_PARAMS {
  CUgraphConditionalHandle handle;
  CUgraphConditionalNodeType type;
  unsigned size;
  CUgraph *phGraph_out;
  CUcontext ctx;
};

struct CUDA_MEMCPY_NODE_PARAMS {
  int flags, reserved;
  CUcontext copyCtx;
  CUDA_MEMCPY3D copyParams;
};

struct CUgraphNodeParams {
  CUgraphNodeType type;
  int reserved0[3];
  union {
    long long reserved1[29];
    CUDA_KERNEL_NODE_PARAMS kernel;
    CUDA_MEMCPY_NODE_PARAMS memcpy;
    CUDA_MEMSET_NODE_PARAMS memset;
    CUDA_HOST_NODE_PARAMS host;
    struct {
      CUgraph graph;
      CUgraphChildGraphNodeOwnership ownership;
    } graph;
    struct {
      CUevent event;
    } eventWait, eventRecord;
    CUDA_CONDITIONAL_NODE_PARAMS conditional;
  };
  long long reserved2;
};

struct CUDA_GRAPH_INSTANTIATE_PARAMS {
  cuuint64_t flags;
  CUstream hUploadStream;
  CUgraphNode hErrNode_out;
  CUgraphInstantiateResult result_out;
};

struct CUgraphExecUpdateResultInfo {
  CUgraphExecUpdateResult result;
  CUgraphNode errorNode, errorFromNode;
};

} // namespace sprig::cuda

#endif
