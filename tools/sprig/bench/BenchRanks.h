// Steady-state calls of a model that is split over a mesh, on its ranks: threads of this process, or processes.
// For sprig bench.
#pragma once
#include "tools/sprig/run/RankedModel.h"

namespace sprig::cli {

struct BenchedRanks {
  MeshFlags mesh;
  std::vector<std::string> inputs; ///< as --input gives them
  double seconds = 1;
  uint64_t seed = 1; ///< of the inputs that are not given
  bool isJson = false;
};

/// All ranks make the same calls, side by side; what a call takes is told by the first rank, which waits for the others
/// in each collective.
int benchRanks(const Model &model, const Settings &settings, const BenchedRanks &options);

} // namespace sprig::cli
