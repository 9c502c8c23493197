// Where a toolkit is: what the runtime declares of the driver is what its cuda.h does. Nothing to run; it compiles or
// not.
#include <cuda.h>

#include <type_traits>

#define SPRIG_CUDA_VALUE(name, value) static_assert(static_cast<unsigned>(name) == value, #name);
#include "runtime/machine/CudaValues.def"
#define SPRIG_CUDA_FUNCTION(name, parameters) static_assert(std::is_same_v<decltype(name), CUresult parameters>, #name);
#include "runtime/machine/CudaFunctions.def"
