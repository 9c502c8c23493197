// The checkpoint that a training run goes on from, and what the run has in common with the one that wrote it.
// For the training loop's doors.
#pragma once
#include "lib/Checkpoint/Checkpoint.h"
#include "lib/Training/TrainConfig.h"
#include <optional>

namespace sprig::training {

/// Sets what a run's configuration is known by: all of it that decides its bits. Its length, the evaluations and what
/// is not computed with may change. `plateau`: what lowers rates beside the configuration's schedule; may be null.
void identifyConfig(TrainConfig config, int64_t samples, checkpoints::Manifest &identity,
                    const ScheduleConfig *plateau = nullptr);

struct ResumeRequest {
  std::string folder;    ///< of the run's own checkpoints; "": none
  bool newest = false;   ///< goes on from its newest, if there is one
  std::string from = {}; ///< goes on from this folder of checkpoints, or this step-N of one
  // How the door names things in errors.
  std::string place = {};                 ///< in front: "file:line: Trainer: "
  std::string advice, where, model, free; ///< "--resume", where to resume from, "model", what may change
};

/// The checkpoint to go on from; nothing where the run starts anew. Throws Error: usage where the folder has
/// checkpoints and the run is not to go on from one, badInput for a checkpoint of another run, with the first field
/// that differs.
std::optional<checkpoints::Checkpoint> findCheckpoint(const ResumeRequest &request,
                                                      const checkpoints::Manifest &identity);

} // namespace sprig::training
