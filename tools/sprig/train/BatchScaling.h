// Batches that grow with the number of ranks, and rates with them: --scale-batch and --lr-scaling.
// For `sprig train`.
#pragma once
#include "lib/Training/TrainConfig.h"
#include "tools/sprig/Model.h"
#include "tools/sprig/train/TrainRun.h"

namespace sprig::cli {

/// Makes of the configuration's batch, which is each rank's with --scale-batch, that of so many together; gives what
/// rates were multiplied by. Throws usage errors.
double scaleBatch(training::TrainConfig &config, const TrainOptions &options, const Model &model, int ranks);

} // namespace sprig::cli
