// Copies between arrays of any strides: how a caller's arrays enter and leave the aligned, dense buffers of kernels.
#ifndef SPRIG_RUNTIME_EXEC_STRIDED_H
#define SPRIG_RUNTIME_EXEC_STRIDED_H

#include <cstdint>
#include <span>

namespace sprig::rt::core {

// Whether elements lie densely in row-major order; strides in elements, null for exactly that.
bool isDense(std::span<const int64_t> shape, const int64_t *strides);

// Dense target from strided source, and back. `shape` has at most 64 dimensions.
void packStrided(std::span<const int64_t> shape, const int64_t *strides, uint64_t elementSize, const uint8_t *source,
                 uint8_t *dense);
void unpackStrided(std::span<const int64_t> shape, const int64_t *strides, uint64_t elementSize, const uint8_t *dense,
                   uint8_t *target);

} // namespace sprig::rt::core

#endif
