// Whether a run's data fit the sizes of its steps.
// For `sprig train`; every function throws the error that says what does not fit.
#pragma once
#include "lib/Training/TrainConfig.h"
#include "tools/sprig/train/TrainProgram.h"
#include <optional>
#include <string>

namespace sprig::cli {

/// A package takes the sizes that it was compiled for, of so many samples to train and, if any, to evaluate.
void checkSizes(const std::string &package, const TrainProgram &program, const training::TrainConfig &config,
                int64_t samples, std::optional<int64_t> evaluated);

/// Calls end with an epoch, so that one that does not fit in never comes.
void checkStepsPerCall(int64_t steps, const training::TrainConfig &config, int64_t samples);

} // namespace sprig::cli
