// Scores of a data set. For the trainer.
#pragma once
#include "lib/Frontend/Trainer/Programs.h"
#include "lib/TrainLoop/StepRunner.h"

namespace sprig::frontend {

/// Of all samples together, on every rank; the set has this rank's shares (RankLoader.h). The module is in evaluation
/// mode meanwhile; nothing is read before the last batch was asked for.
training::Evaluation evaluate(const TrainingPrograms &programs, data::Loader &set, dist::Group *group, Source at);

} // namespace sprig::frontend
