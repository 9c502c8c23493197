#include "runtime/collective/AxisGroup.h"

#include <algorithm>

namespace sprig::rt::collective {

std::vector<int> groupOf(std::span<const int64_t> sizes, std::span<const uint32_t> over, int rank) {
  int64_t count = 1;
  for (uint32_t axis : over) count *= sizes[axis];
  std::vector<int> group(static_cast<size_t>(count), rank);
  for (int64_t place = 0; place < count; ++place) {
    int64_t left = place, step = 1;
    for (size_t axis = sizes.size(); axis-- > 0; step *= sizes[axis]) {
      if (std::find(over.begin(), over.end(), axis) == over.end()) continue;
      group[size_t(place)] += int((left % sizes[axis] - rank / step % sizes[axis]) * step);
      left /= sizes[axis];
    }
  }
  return group;
}

} // namespace sprig::rt::collective
