#include "runtime/exec/Strided.h"

#include <cstring>

namespace sprig::rt::core {

bool isDense(std::span<const int64_t> shape, const int64_t *strides) {
  if (!strides) return true;
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 0) return true;
    // The stride of a single element is never taken.
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

namespace {

constexpr size_t kMaxRank = 64;

// Calls run(dense offset, strided offset, bytes) for each piece that is contiguous on both sides; offsets in bytes.
template <typename RunFn>
void forEachPiece(std::span<const int64_t> shape, const int64_t *strides, uint64_t elementSize, RunFn run) {
  for (int64_t size : shape)
    if (size == 0) return;
  // Trailing dimensions that are dense form the piece.
  size_t outer = shape.size();
  int64_t piece = 1;
  while (outer > 0 && (!strides || strides[outer - 1] == piece || shape[outer - 1] == 1)) piece *= shape[--outer];
  int64_t bytes = piece * int64_t(elementSize);
  int64_t index[kMaxRank] = {};
  int64_t dense = 0, strided = 0;
  for (;;) {
    run(dense, strided, bytes);
    dense += bytes;
    size_t d = outer;
    for (; d > 0; --d) {
      int64_t step = strides[d - 1] * int64_t(elementSize);
      strided += step;
      if (++index[d - 1] < shape[d - 1]) break;
      strided -= step * shape[d - 1];
      index[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

} // namespace

void packStrided(std::span<const int64_t> shape, const int64_t *strides, uint64_t elementSize, const uint8_t *source,
                 uint8_t *dense) {
  forEachPiece(shape, strides, elementSize, [&](int64_t denseAt, int64_t stridedAt, int64_t bytes) {
    std::memcpy(dense + denseAt, source + stridedAt, size_t(bytes));
  });
}

void unpackStrided(std::span<const int64_t> shape, const int64_t *strides, uint64_t elementSize, const uint8_t *dense,
                   uint8_t *target) {
  forEachPiece(shape, strides, elementSize, [&](int64_t denseAt, int64_t stridedAt, int64_t bytes) {
    std::memcpy(target + stridedAt, dense + denseAt, size_t(bytes));
  });
}

} // namespace sprig::rt::core
