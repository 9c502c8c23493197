// How the ranks of a training begin: with what is the same on all.
// For the trainer.
#pragma once
#include "lib/Frontend/Trainer/ModuleRunner.h"

namespace sprig::frontend {

/// Throws Error (badInput) on every rank where processes have read other data, or run code of another kind, than
/// another does. Ranks that are threads have these in common.
void checkBeginning(dist::Group &group, const data::Loader &train, const data::Loader *evaluation, Source at);

/// Module, optimizer, averages and random numbers of all ranks become the first one's, who alone has read a checkpoint;
/// of where it goes on from, the others' loops are told.
void beginAlike(dist::Group &group, const Training &training, const ModuleRunner &runner, training::Loop &loop,
                const std::optional<checkpoints::Manifest> &from, Source at);

} // namespace sprig::frontend
