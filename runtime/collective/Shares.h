// Which of so many samples are a rank's, of ranks that take them together: even shares, or by weights.
// For the compiler of steps and who deals samples out, which have to agree.
#ifndef SPRIG_RUNTIME_COLLECTIVE_SHARES_H
#define SPRIG_RUNTIME_COLLECTIVE_SHARES_H

#include "runtime/collective/Collective.h"

#include <cstdint>
#include <vector>

namespace sprig::rt::collective {

// Weights of ranks are above 0, and their sum is at most this.
constexpr int64_t kMostWeight = int64_t(1) << 20;

// Neighbours, in the order of the ranks. Without weights they are pieceOf's; with them each has the whole part of what
// is proportional, and what is left goes to the largest rests, of equal ones to the first ranks: of equal weights that
// is the same.
Range shareOf(int64_t samples, uint32_t ranks, const std::vector<int64_t> &weights, uint32_t rank);

} // namespace sprig::rt::collective

#endif
