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
