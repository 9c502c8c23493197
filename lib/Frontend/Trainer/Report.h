// What a training prints and draws. For the trainer and its sweeps.
#pragma once
#include "lib/Training/Metrics.h"
#include "sprig/trainer.h"

namespace sprig::frontend {

/// "epoch 1/5  loss 0.5312  val loss 0.41  val acc 0.853  1.2 s"
std::string describeEpoch(const EpochReport &report, int64_t epochs);
/// "test acc 0.87, 1.2 s/epoch, 48000 samples/s, on [cpu]", of several ranks "on [rank 0: cpu:0, rank 1: cpu:1]"
std::string describeResult(const FitResult &result);

void plotSweep(const std::filesystem::path &path, const std::vector<SweepRun> &runs);
std::string sweepTable(const std::vector<SweepRun> &runs);

} // namespace sprig::frontend
