// The loop over epochs. For the trainer and its sweeps.
#pragma once
#include "lib/Frontend/Trainer/Programs.h"

namespace sprig::frontend {

/// `writes`: whether checkpoints, metrics and the plot are written, and lines printed.
FitResult fit(const TrainerOptions &options, const TrainingPrograms &programs, data::Loader &train,
              data::Loader *evaluation, bool writes, Source at);

/// Steps that are logged give the norm of their gradients.
inline ProgramOptions programOptions(const TrainerOptions &options) {
  return {.compile = options.compile,
          .withNorm = options.onStep || !options.metrics.empty() || !options.tensorboard.empty(),
          .accumulate = options.accumulate,
          .factors = options.factors,
          .bucketBytes = options.bucketBytes,
          .shares = options.shares,
          .norms = options.batchNorms,
          .allowGather = options.allowGather,
          .sharesState = options.zero && options.group && options.group->size() > 1,
          .group = options.group};
}

} // namespace sprig::frontend
