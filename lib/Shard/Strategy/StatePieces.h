// Which tensors of an optimizer the strategy zero1 divides.
// For that strategy, and for who holds the state of ranks before their steps are compiled.
#pragma once
#include <cstdint>

namespace sprig::shard {

/// Smaller tensors are not worth a piece of their own: each rank has all of them.
constexpr bool isStateDivided(int64_t elements, int64_t ranks) { return ranks > 1 && elements >= 64 * ranks; }

} // namespace sprig::shard
