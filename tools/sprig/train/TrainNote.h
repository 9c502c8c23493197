// What a loaded package says of its training (lib/Model/TrainNote.h), against what is asked of it.
// For `sprig train`, which trains such a package without a compiler, and the memory of a step.
#pragma once
#include "lib/Model/TrainNote.h"
#include "tools/sprig/run/Runner.h"
#include <optional>

namespace sprig::cli {

/// Of a loaded package; nothing when it says none. badInput when it cannot be read.
std::optional<TrainNote> trainNoteOf(const Runner &runner);

/// Throws badInput where a configuration asks for other steps than the package has: another loss, optimizer, schedule,
/// ... The learning rate, the seed, the run's length, order and evaluations are free.
void checkAgrees(const TrainNote &note, const training::TrainConfig &config, int64_t samples,
                 const std::string &package);

/// Whether both have the same steps compiled in, learning rate and seed apart.
bool sameSteps(const training::TrainConfig &a, const training::TrainConfig &b);

} // namespace sprig::cli
