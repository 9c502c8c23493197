// What the stand-in and its tests need of CUDA's driver interface (CUDA 13): types, numbers and the exported functions,
// written down as facts, because no toolkit is asked for.
#ifndef SPRIG_TEST_GPU_DRIVER_CUDA_H
#define SPRIG_TEST_GPU_DRIVER_CUDA_H

#include "test/gpu/driver/Types.h"

namespace sprig::cuda {

enum [[nodiscard]] CUresult : unsigned {
#define SPRIG_CUDA_RESULT(name, value, text) name = value,
#include "test/gpu/driver/Values.def"
};
#define SPRIG_CUDA_VALUE(name, value) inline constexpr unsigned name = value;
#include "test/gpu/driver/Values.def"

// Handles of streams that exist without being made.
inline const CUstream CU_STREAM_LEGACY = reinterpret_cast<CUstream>(uintptr_t(1));
inline const CUstream CU_STREAM_PER_THREAD = reinterpret_cast<CUstream>(uintptr_t(2));

#define SPRIG_CUDA_FUNCTION(name, parameters)                                                                          \
  extern "C" __attribute__((visibility("default"))) CUresult name parameters;
#include "test/gpu/driver/Functions.def"

} // namespace sprig::cuda

#endif
