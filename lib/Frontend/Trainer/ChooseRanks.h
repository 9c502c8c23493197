// How many ranks a training has where that is left to the machine (TrainerOptions::ranks is 0).
// For the trainer. By the machine's model, so that one machine chooses alike in every run.
#pragma once
#include "sprig/trainer.h"
#include <string>

namespace sprig::frontend {

struct ChosenRanks {
  int ranks = 1;
  std::string why;
};

/// One rank with all threads, or the most that the threads divide by and every pass has samples for, where their steps
/// are expected to be shorter. Reads a batch of the set, and leaves the loader where it is.
ChosenRanks chooseRanks(const Training &training, const TrainerOptions &options, const data::Loader &train, Source at);

} // namespace sprig::frontend
