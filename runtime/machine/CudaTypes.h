// What the runtime uses of CUDA's driver interface, declared here, so that no toolkit is needed to build it; where
// there is one, test/gpu/runtime/CudaFactsCheck.cpp holds all of it beside cuda.h. Enumerations are plain unsigned
// numbers.
#ifndef SPRIG_RUNTIME_MACHINE_CUDATYPES_H
#define SPRIG_RUNTIME_MACHINE_CUDATYPES_H

#include <cstddef>
#include <cstdint>

namespace sprig::rt::cuda {

using CUresult = unsigned;
using CUdevice = int;
using CUdeviceptr = unsigned long long;
using CUcontext = struct CUctx_st *;
using CUstream = struct CUstream_st *;
using CUevent = struct CUevent_st *;
using CUmodule = struct CUmod_st *;
using CUfunction = struct CUfunc_st *;
using CUgraph = struct CUgraph_st *;
using CUgraphExec = struct CUgraphExec_st *;
using CUdevice_attribute = unsigned;
using CUfunction_attribute = unsigned;
using CUjit_option = unsigned;
using CUpointer_attribute = unsigned;
using CUstreamCaptureMode = unsigned;
using CUstreamCaptureStatus = unsigned;

#define SPRIG_CUDA_VALUE(name, value) inline constexpr unsigned name = value;
#include "runtime/machine/CudaValues.def"

} // namespace sprig::rt::cuda

#endif
