// The chart of a training run, as a file. For `sprig train` and the imperative trainer.
#pragma once
#include "lib/TrainLoop/Metrics.h"
#include <filesystem>
#include <span>
#include <string>

namespace sprig::training {

/// Loss, evaluation and learning rate over the steps of a run, as SVG. Throws Error (runtime) where it cannot be
/// written.
void writeRunChart(const std::filesystem::path &path, const std::string &title, const std::string &subtitle,
                   std::span<const StepMetrics> history);

} // namespace sprig::training
