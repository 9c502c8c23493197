// What experiments on shares of the cores have in common: programs that are placed by their text, and what the
// simulator expects of them.
// For bench devices, overlap, split and pipeline.
#pragma once
#include "tools/sprig/bench/Experiment.h"
#include "tools/sprig/bench/TimedProgram.h"
#include <string>
#include <vector>

namespace sprig::cli {

/// Settings for the first `count` shares of the cores, with links between them.
Settings onShares(const ExperimentOptions &options, int count, const std::vector<std::string> &links = {});

struct SimulatedCall {
  double seconds = 0;
  std::vector<double> busy; ///< seconds in which each device computes
};
/// A call by `sprig simulate`, on this machine with these links.
SimulatedCall simulatedCall(const TimedProgram &program, const std::vector<std::string> &links = {});
double simulatedSeconds(const TimedProgram &program, const std::vector<std::string> &links = {});

/// How many samples of a batch a part of it has: sizes differ by one at most, larger ones come first.
int64_t shareOf(int64_t batch, int parts, int part);
/// What a program makes of one batch of this shape, the same for each: its first inputs are the parts of the batch, the
/// others weights.
std::vector<float> resultOf(const TimedProgram &program, const std::vector<int64_t> &batch, int parts);
/// As a share of the largest number of the first.
double largestDifference(const std::vector<float> &a, const std::vector<float> &b);

/// " {nn.place = "cpu:1"}"
std::string placedOn(int device);
/// "tensor<64x10xf32>"
std::string matrixType(int64_t rows, int64_t columns);

} // namespace sprig::cli
