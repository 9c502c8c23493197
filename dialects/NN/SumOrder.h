// The constants of docs/numerics.md that fix in which order sums are taken, and with them every bit of a result.
// For the code generator, for kernels that are made when Sprig is built, and for passes that change layouts.
#pragma once
#include <cstdint>

namespace sprig {

/// Partial accumulators of a reduction along the innermost dimension: element i goes to accumulator i mod 16.
inline constexpr int64_t kPartials = 16;

/// Up to this many products are one chain of multiply-adds; longer sums are chains of kChainPart products each, added
/// in ascending order.
inline constexpr int64_t kLongestChain = 1024, kChainPart = 512;

/// Columns of a panel of the right side of a product: the one packed layout of contractions.
inline constexpr int64_t kPanelWidth = 32;

} // namespace sprig
