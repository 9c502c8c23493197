// What a package that trains says of itself: the configuration that its steps were compiled from.
// For `sprig compile --train`, which writes it into the package's facts, and `sprig train`, which trains such a package
// without a compiler and must not take another configuration for it.
#pragma once
#include "lib/Training/TrainConfig.h"
#include "tools/sprig/run/Runner.h"

namespace sprig::cli {

struct TrainNote {
  training::TrainConfig config; ///< resolved
  int64_t samples = 0;          ///< of the training set that it was resolved for
  std::vector<int64_t> classes; ///< of each output; 0 where its loss has none
  std::vector<std::string> trainable;
  int zero = 0; ///< 1: ranks share the optimizer's state
};

/// The fact's name.
inline constexpr char kTrainingFact[] = "training";

std::string toText(const TrainNote &note);
/// Of a loaded package; nothing when it says none. badInput when it cannot be read.
std::optional<TrainNote> trainNoteOf(const Runner &runner);

/// Throws badInput where a configuration asks for other steps than the package has: another loss, optimizer, schedule,
/// ... The learning rate, the seed, the run's length, order and evaluations are free.
void checkAgrees(const TrainNote &note, const training::TrainConfig &config, int64_t samples,
                 const std::string &package);

/// Whether both have the same steps compiled in, learning rate and seed apart.
bool sameSteps(const training::TrainConfig &a, const training::TrainConfig &b);

} // namespace sprig::cli
