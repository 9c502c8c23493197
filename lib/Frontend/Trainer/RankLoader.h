// The loader that a rank trains with: its share of what the given one has.
// For the trainer.
#pragma once
#include "sprig/data/loader.h"
#include "sprig/dist.h"
#include <optional>

namespace sprig::frontend {

/// While it lives, `own()` has this rank's share of each batch of a loader; then the loader is where that one is.
/// Without a group it is the loader itself.
class RankLoader {
public:
  /// Throws Error (usage) for a loader that has the share of another rank, or of other passes. `weights`: of the ranks'
  /// shares of each pass. `isScaled`: its batch is each rank's.
  RankLoader(data::Loader &given, const dist::Group *group, Source at, const std::vector<int64_t> &weights = {},
             bool isScaled = false, int64_t passes = 1);
  ~RankLoader();
  RankLoader(const RankLoader &) = delete;
  RankLoader &operator=(const RankLoader &) = delete;

  data::Loader &own() { return share ? *share : given; }

private:
  data::Loader &given;
  int64_t times = 1; ///< batches of the given one that one of these is
  std::optional<data::Loader> share;
};

} // namespace sprig::frontend
