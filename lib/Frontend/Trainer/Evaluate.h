// Scores of a data set. For the trainer.
#pragma once
#include "lib/Frontend/Trainer/Programs.h"

namespace sprig::frontend {

struct Evaluation {
  double loss = 0;
  std::optional<double> accuracy;
};
/// Of all samples together, on every rank; the set has this rank's shares (RankLoader.h). The module is in evaluation
/// mode meanwhile; nothing is read before the last batch was asked for.
Evaluation evaluate(const TrainingPrograms &programs, data::Loader &set, dist::Group *group, Source at);

} // namespace sprig::frontend
