// Parts of `sprig bench loader`.
// For BenchLoader.cpp and BenchMapped.cpp.
#pragma once
#include "sprig/data.h"
#include "tools/sprig/bench/Experiment.h"

namespace sprig::cli {

/// A mapped .npy file beside one read for each sample.
void benchMappedFiles(ExperimentReport &report);

} // namespace sprig::cli
