// Copies between arrays of any strides: how a caller's arrays enter and leave the aligned, dense buffers of kernels.
#ifndef SPRIG_RUNTIME_EXEC_STRIDED_H
#define SPRIG_RUNTIME_EXEC_STRIDED_H

#include <cstdint>
#include <span>

namespace sprig::rt::core {

// Whether elements lie densely in row-major order; strides in elements, null for exactly that.
bool isDense(std::span<const int64_t> shape, const int64_t *strides);

// Copies the elements of an array of at most 64 dimensions. Strides in elements; null: dense.
void copyStrided(std::span<const int64_t> shape, uint64_t elementSize, const uint8_t *source,
                 const int64_t *sourceStrides, uint8_t *target, const int64_t *targetStrides);

} // namespace sprig::rt::core

#endif
