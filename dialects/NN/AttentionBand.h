// Which keys an attention's own mask leaves to a row: where they are a band along the diagonal of the scores (a causal
// mask, a sliding window), weights outside of it are zeros that nobody needs to compute.
#pragma once
#include "dialects/NN/AttentionPattern.h"

namespace sprig::ir {

/// Row i sees the keys [i - lower, i + upper].
struct Band {
  static constexpr int64_t kUnbounded = int64_t(1) << 40;
  int64_t lower = kUnbounded, upper = kUnbounded;

  bool isEverything() const { return lower >= kUnbounded && upper >= kUnbounded; }
  /// Whether each of the rows sees one of the keys.
  bool reachesAll(int64_t rows, int64_t keys) const {
    return lower + upper >= 0 && upper >= 0 && rows - 1 - lower <= keys - 1;
  }
};

/// The narrowest band outside of which all weights are zero, as far as scores, keys and values are finite, and scores
/// within 4e8 where the mask is a finite number of -1e9 or less; nothing where there is none, where a row would be left
/// without a key (its weights are NaN, or of all keys), or with such a number beside other masks, which may leave a row
/// none.
std::optional<Band> bandOf(const Attention &attention);

} // namespace sprig::ir
