// The checkpoint that a training run goes on from, and what the run has in common with the one that wrote it.
// For `sprig train`.
#pragma once
#include "lib/Checkpoint/Checkpoint.h"
#include "lib/Training/TrainConfig.h"
#include "tools/sprig/Model.h"
#include "tools/sprig/train/TrainRun.h"
#include <optional>

namespace sprig::cli {

/// Sets what a run's configuration is known by: all of it that decides its bits. Its length, the evaluations and what
/// is not computed with may change.
void identifyConfig(training::TrainConfig config, int64_t samples, checkpoints::Manifest &identity);
std::string modelDigest(const Model &model);

/// The checkpoint to go on from, if there is to be one; says so. Throws where it is of another run.
std::optional<checkpoints::Checkpoint> findCheckpoint(const TrainOptions &options,
                                                      const checkpoints::Manifest &identity);

} // namespace sprig::cli
