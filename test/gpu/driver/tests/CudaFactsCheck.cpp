// Where a toolkit is: our numbers, layouts and functions are those of its cuda.h. Nothing to run; it compiles or not.
#include <cuda.h>

#include <cstddef>
#include <type_traits>

// Numbers and functions name the toolkit's own here ...
#define SPRIG_CUDA_RESULT(name, value, text) static_assert(name == value, #name);
#define SPRIG_CUDA_VALUE(name, value) static_assert(static_cast<unsigned>(name) == value, #name);
#include "test/gpu/driver/Values.def"
#define SPRIG_CUDA_FUNCTION(name, parameters) static_assert(std::is_same_v<decltype(name), CUresult parameters>, #name);
#include "test/gpu/driver/Functions.def"
// ... and what both declare is held side by side.
#include "test/gpu/driver/Types.h"

namespace ours = sprig::cuda;

static_assert(sizeof(ours::CUuuid) == sizeof(CUuuid));
static_assert(sizeof(ours::CUdeviceptr) == sizeof(CUdeviceptr));
static_assert(sizeof(ours::CUdevice) == sizeof(CUdevice));

static_assert(sizeof(ours::CUlaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(ours::CUlaunchAttribute, value) == offsetof(CUlaunchAttribute, value));
static_assert(sizeof(ours::CUlaunchConfig) == sizeof(CUlaunchConfig));
static_assert(offsetof(ours::CUlaunchConfig, hStream) == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(ours::CUlaunchConfig, numAttrs) == offsetof(CUlaunchConfig, numAttrs));
static_assert(sizeof(ours::CUgraphEdgeData) == sizeof(CUgraphEdgeData));
static_assert(sizeof(ours::CUDA_KERNEL_NODE_PARAMS) == sizeof(CUDA_KERNEL_NODE_PARAMS));
static_assert(sizeof(ours::CUDA_MEMCPY3D) == sizeof(CUDA_MEMCPY3D));
static_assert(sizeof(ours::CUDA_MEMSET_NODE_PARAMS) == sizeof(CUDA_MEMSET_NODE_PARAMS));
static_assert(sizeof(ours::CUDA_HOST_NODE_PARAMS) == sizeof(CUDA_HOST_NODE_PARAMS));
static_assert(sizeof(ours::CUDA_CONDITIONAL_NODE_PARAMS) == sizeof(CUDA_CONDITIONAL_NODE_PARAMS));
static_assert(sizeof(ours::CUDA_MEMCPY_NODE_PARAMS) == sizeof(CUDA_MEMCPY_NODE_PARAMS));
static_assert(sizeof(ours::CUgraphNodeParams) == sizeof(CUgraphNodeParams));
static_assert(sizeof(ours::CUDA_GRAPH_INSTANTIATE_PARAMS) == sizeof(CUDA_GRAPH_INSTANTIATE_PARAMS));
static_assert(sizeof(ours::CUgraphExecUpdateResultInfo) == sizeof(CUgraphExecUpdateResultInfo));
static_assert(offsetof(ours::CUDA_KERNEL_NODE_PARAMS, kernelParams) == offsetof(CUDA_KERNEL_NODE_PARAMS, kernelParams));
static_assert(offsetof(ours::CUDA_MEMCPY3D, srcHost) == offsetof(CUDA_MEMCPY3D, srcHost));
static_assert(offsetof(ours::CUDA_MEMCPY3D, dstMemoryType) == offsetof(CUDA_MEMCPY3D, dstMemoryType));
static_assert(offsetof(ours::CUDA_MEMCPY3D, dstPitch) == offsetof(CUDA_MEMCPY3D, dstPitch));
static_assert(offsetof(ours::CUDA_MEMCPY3D, WidthInBytes) == offsetof(CUDA_MEMCPY3D, WidthInBytes));
static_assert(offsetof(ours::CUDA_MEMSET_NODE_PARAMS, width) == offsetof(CUDA_MEMSET_NODE_PARAMS, width));
static_assert(offsetof(ours::CUDA_CONDITIONAL_NODE_PARAMS, phGraph_out) ==
              offsetof(CUDA_CONDITIONAL_NODE_PARAMS, phGraph_out));
static_assert(offsetof(ours::CUDA_MEMCPY_NODE_PARAMS, copyParams) == offsetof(CUDA_MEMCPY_NODE_PARAMS, copyParams));
static_assert(offsetof(ours::CUgraphNodeParams, kernel) == offsetof(CUgraphNodeParams, kernel));
static_assert(offsetof(ours::CUDA_GRAPH_INSTANTIATE_PARAMS, result_out) ==
              offsetof(CUDA_GRAPH_INSTANTIATE_PARAMS, result_out));
static_assert(offsetof(ours::CUgraphExecUpdateResultInfo, errorNode) ==
              offsetof(CUgraphExecUpdateResultInfo, errorNode));
