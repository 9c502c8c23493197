// How the ranks of a training begin: with what is the same on all.
// For the trainer.
#pragma once
#include "lib/Checkpoint/Checkpoint.h"
#include "lib/Frontend/Trainer/RatePlateau.h"
#include "sprig/data/loader.h"
#include "sprig/dist.h"
#include "sprig/trainer.h"
#include <optional>

namespace sprig::frontend {

/// Throws Error (badInput) on every rank where processes have read other data, or run code of another kind, than
/// another does. Ranks that are threads have these in common.
void checkBeginning(dist::Group &group, const data::Loader &train, const data::Loader *evaluation, Source at);

/// Module, optimizer, what lowers rates (may be null) and random numbers of all ranks become the first one's, who alone
/// has read a checkpoint; gives where the run goes on from, on every rank.
std::optional<checkpoints::Manifest> beginAlike(dist::Group &group, const Training &training,
                                                const RatePlateau *plateau, std::optional<checkpoints::Manifest> from,
                                                Source at);

} // namespace sprig::frontend
