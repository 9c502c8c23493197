// Scores of a data set. For the trainer.
#pragma once
#include "lib/Frontend/Trainer/Programs.h"

namespace sprig::frontend {

/// Throws Error (unsupported) for a loader that has a rank's share alone: nothing here reduces over ranks.
void refuseShares(const data::Loader &set, Source at);

struct Evaluation {
  double loss = 0;
  std::optional<double> accuracy;
};
/// Of all samples together. The module is in evaluation mode meanwhile; nothing is read before the last batch was
/// asked for.
Evaluation evaluate(const TrainingPrograms &programs, data::Loader &set, Source at);

} // namespace sprig::frontend
