// What --devices auto is on this machine: a GPU, several shares of the processor as ranks where steps are expected to
// be shorter so, or the processor as one.
// For `sprig train`.
#pragma once
#include "tools/sprig/Model.h"
#include "tools/sprig/train/TrainRun.h"
#include <string>

namespace sprig::cli {

struct AutoDevices {
  std::string devices; ///< as --devices takes it: "cpu*2", "cpu", "cuda:0"
  std::string why;
};

/// Of a model and a configuration whose batch is that of one rank without --scale-batch, with it each rank's;
/// `leastPass` samples are the fewest of any forward pass. What is chosen depends on the machine; results depend on it
/// by the number of ranks alone.
AutoDevices chooseDevices(const Model &model, const training::TrainConfig &config, int64_t leastPass,
                          const TrainOptions &options);
/// Of a package, which was compiled for its number of ranks.
AutoDevices devicesOf(const Model &package);

} // namespace sprig::cli
