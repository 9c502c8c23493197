// Which samples of a step or an evaluation are a rank's, of ranks that train together.
// For `sprig train`.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace sprig::cli {

struct RankShare {
  int rank = 0, ranks = 1;
  int64_t batch = 0;                 ///< samples of a forward pass of a step, of all ranks together
  std::vector<int64_t> weights = {}; ///< of shares that differ (RankWeights.h); none: even ones

  /// Places of this rank's samples among `samples` of all ranks: its share of each forward pass
  /// (runtime/collective/Shares.h); it may have none. Replaces what `places` holds.
  void ofStep(int64_t samples, std::vector<int64_t> &places) const;
  /// The same of samples that are one pass.
  void ofPass(int64_t samples, std::vector<int64_t> &places) const;
  /// How many the two find.
  int64_t sizeOfStep(int64_t samples) const;
  int64_t sizeOfPass(int64_t samples) const;

private:
  void add(int64_t first, int64_t samples, std::vector<int64_t> &places) const;
};

} // namespace sprig::cli
