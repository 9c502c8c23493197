// The samples that --x, --y, --eval-x and --eval-y name, held against what a model takes.
// For `sprig train`. Every mismatch is one error with both facts, before anything is compiled.
#pragma once
#include "lib/Training/TrainConfig.h"
#include "tools/sprig/train/TrainProgram.h"

namespace sprig::cli {

/// Opens FILE, or NAME=FILE for a model of several inputs, for each input of the model, and the targets. `what` is
/// "--x" or "--eval-x".
TrainData openTrainData(const std::vector<std::string> &inputs, const std::string &targets,
                        const std::vector<InputSpec> &specs, const std::string &what, const std::string &modelPath);

/// Whether the targets are of this type and shape, and classes within their number (one for each output; 0: no
/// classes).
void checkTargets(const TrainData &data, data::DType type, const std::vector<int64_t> &sample,
                  const std::vector<int64_t> &classes, const std::vector<training::LossConfig> &losses);

/// Sizes of the steps of an epoch: that of all but the last, and that of the last where it is smaller.
std::vector<int64_t> partSizes(int64_t samples, int64_t each, bool dropLast);

} // namespace sprig::cli
