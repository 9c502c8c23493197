// How checkpoints identify a trainer's run, and the checkpoint that a run resumes from.
// For the trainer.
#pragma once
#include "lib/Frontend/Trainer/ModuleRunner.h"

namespace sprig::frontend {

checkpoints::Manifest identityOf(const TrainerOptions &options, const ModuleRunner &runner, const Training &training,
                                 const data::Loader &train, bool evaluates);

/// Throws Error where there are checkpoints of another run.
std::optional<checkpoints::Checkpoint> findCheckpoint(const TrainerOptions &options,
                                                      const checkpoints::Manifest &identity, Source at);

} // namespace sprig::frontend
