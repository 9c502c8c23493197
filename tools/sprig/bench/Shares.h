// What experiments on shares of the cores have in common: programs that are placed by their text, and what the
// simulator expects of them.
// For bench devices, overlap and split.
#pragma once
#include "tools/sprig/bench/Experiment.h"
#include "tools/sprig/bench/TimedProgram.h"
#include <string>
#include <vector>

namespace sprig::cli {

/// Settings for the first `count` shares of the cores, with links between them.
Settings onShares(const ExperimentOptions &options, int count, const std::vector<std::string> &links = {});

/// Seconds of a call by `sprig simulate`, on this machine with these links.
double simulatedSeconds(const TimedProgram &program, const std::vector<std::string> &links = {});

/// " {nn.place = "cpu:1"}"
std::string placedOn(int device);
/// "tensor<64x10xf32>"
std::string matrixType(int64_t rows, int64_t columns);

} // namespace sprig::cli
