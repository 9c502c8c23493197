// Groups of a mesh: those of its ranks whose places differ in some of its axes alone. For all who number ranks so.
#ifndef SPRIG_RUNTIME_COLLECTIVE_AXISGROUP_H
#define SPRIG_RUNTIME_COLLECTIVE_AXISGROUP_H

#include <cstdint>
#include <span>
#include <vector>

namespace sprig::rt::collective {

// Ranks are numbered in row-major order of axes of these sizes. The group of a rank over some axes, by their numbers:
// itself and those that it differs from there alone, in ascending order.
std::vector<int> groupOf(std::span<const int64_t> sizes, std::span<const uint32_t> over, int rank);

} // namespace sprig::rt::collective

#endif
