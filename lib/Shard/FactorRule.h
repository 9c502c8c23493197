// Which gradients are summed over ranks by gathering their factors: by sizes and the number of ranks alone, so that
// bits follow from nothing else. For the gather-factors pass.
#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace mlir {
class Operation;
}

namespace sprig {
/// Is told in words of which gradients of a function the factors are gathered; empty: nobody asks.
using FactorReport = std::function<void(mlir::Operation *function, const std::string &text)>;
} // namespace sprig

namespace sprig::shard {

/// A product of `left` x `rows` and `rows` x `right` numbers, whose rows are those of all ranks together.
struct FactoredSum {
  int64_t rows = 0, left = 0, right = 0;
  int64_t elementBytes = 0;
  int64_t numbers() const { return left * right; }
  int64_t factors() const { return rows * (left + right); }
};

/// An all-reduce of so few bytes is a message or two: nothing is gained.
inline constexpr int64_t kLeastFactoredBytes = int64_t(64) << 10;
/// Rows of other ranks that a rank may multiply besides its own. A number of the sum takes it two operations for each,
/// in all some 2 ns of a core: less than a link of 10 Gbit/s takes for it. (Ranks of one machine divide products.)
inline constexpr int64_t kMostRowsOfOthers = 64;

/// Ranks send and receive (N-1)/N of the factors, or 2 (N-1)/N of the sum. Gathered are those of which half the bytes
/// move at most, and which need no more arithmetic than that; with `always` all of which fewer bytes move.
inline bool gathersFactors(const FactoredSum &sum, int64_t ranks, bool always) {
  if (always) return sum.factors() < 2 * sum.numbers();
  return sum.numbers() * sum.elementBytes >= kLeastFactoredBytes && sum.factors() <= sum.numbers() &&
         sum.rows * (ranks - 1) <= kMostRowsOfOthers * ranks;
}

} // namespace sprig::shard
