// The loop over epochs. For the trainer and its sweeps.
#pragma once
#include "lib/Frontend/Trainer/Programs.h"

namespace sprig::frontend {

/// `writes`: whether checkpoints, metrics and the plot are written, and lines printed.
FitResult fit(const TrainerOptions &options, const TrainingPrograms &programs, data::Loader &train,
              data::Loader *evaluation, bool writes, Source at);

/// Whether steps must give the norm of their gradients.
inline bool wantsNorm(const TrainerOptions &options) { return options.onStep || !options.metrics.empty(); }

} // namespace sprig::frontend
