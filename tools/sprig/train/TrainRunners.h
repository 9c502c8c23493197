// A training program compiled and loaded for each rank of this process.
// For `sprig train` and experiments that train.
#pragma once
#include "tools/sprig/train/TrainModel.h"
#include "tools/sprig/train/TrainRanks.h"
#include <memory>

namespace sprig::cli {

struct LoadedTraining {
  CompiledTraining compiled;   ///< of the first of them; its package is loaded
  std::vector<Runner> runners; ///< by rank; none has joined a group
};

/// For so many ranks from the request's on, whose program is compiled once where it is that of all. `settings` and
/// `options` are of one rank; `threads`: of each, where they differ.
LoadedTraining loadTraining(const Model &model, TrainRequest request, int here, Settings settings,
                            RunnerOptions options, const std::vector<int> &threads = {});

/// The runners join a group of threads of this process.
void joinAsThreads(std::vector<Runner> &runners);

} // namespace sprig::cli
