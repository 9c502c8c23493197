#include "runtime/exec/Strided.h"

#include "runtime/format/Types.h"

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

void copyStrided(std::span<const int64_t> shape, uint64_t elementSize, const uint8_t *source,
                 const int64_t *sourceStrides, uint8_t *target, const int64_t *targetStrides) {
  int64_t dense[kMaxRank], step = 1;
  for (size_t d = shape.size(); d-- > 0; step *= shape[d]) {
    if (shape[d] == 0) return;
    dense[d] = step;
  }
  if (!sourceStrides) sourceStrides = dense;
  if (!targetStrides) targetStrides = dense;
  // Trailing dimensions that are dense on both sides form the piece that is copied at once.
  size_t outer = shape.size();
  int64_t piece = 1;
  auto continues = [&](size_t d) { return shape[d] == 1 || (sourceStrides[d] == piece && targetStrides[d] == piece); };
  while (outer > 0 && continues(outer - 1)) piece *= shape[--outer];
  int64_t bytes = piece * int64_t(elementSize), index[kMaxRank] = {};
  for (;;) {
    std::memcpy(target, source, size_t(bytes));
    size_t d = outer;
    for (; d > 0; --d) {
      int64_t from = sourceStrides[d - 1] * int64_t(elementSize), to = targetStrides[d - 1] * int64_t(elementSize);
      source += from, target += to;
      if (++index[d - 1] < shape[d - 1]) break;
      source -= from * shape[d - 1], target -= to * shape[d - 1];
      index[d - 1] = 0;
    }
    if (d == 0) return;
  }
}

} // namespace sprig::rt::core
