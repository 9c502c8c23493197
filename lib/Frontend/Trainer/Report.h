// What a training prints and draws. For the trainer and its sweeps.
#pragma once
#include "lib/TrainLoop/LoopObserver.h"
#include "sprig/trainer.h"
#include <limits>

namespace sprig::frontend {

void printLine(const std::string &text);

/// What a program hears of its training: calls of its functions, lines on standard output, and the result's figures.
class TrainerReport final : public training::LoopObserver {
public:
  /// `epochs` that the training has. Both outlive this.
  TrainerReport(const TrainerOptions &options, FitResult &result, int64_t epochs)
      : options(options), result(result), epochs(epochs) {}

  void onStep(const training::StepMetrics &line) override;
  bool onEpoch(const training::EpochSummary &epoch) override;
  void onWarning(const std::string &text) override;
  /// Those of the callbacks that watch a loss.
  std::vector<double> state() const override;
  void restore(std::span<const double> numbers) override;
  /// The figures of all epochs, the last line, and a warning where the data are what bounds the run.
  void end();

private:
  const TrainerOptions &options;
  FitResult &result;
  int64_t epochs;
  double seconds = 0;
  int64_t samples = 0;
};

/// What a callback that watches a loss goes on from.
struct WatchedLoss {
  double best = std::numeric_limits<double>::infinity();
  int64_t without = 0;
};
/// Of a callback that earlyStopping or saveBest has made; null of others.
WatchedLoss *watchedOf(const std::function<bool(const EpochReport &)> &callback);

/// "test acc 0.87, 1.2 s/epoch, 48000 samples/s, on [cpu]", of several ranks "on [rank 0: cpu:0, rank 1: cpu:1]"
std::string describeResult(const FitResult &result);

void plotSweep(const std::filesystem::path &path, const std::vector<SweepRun> &runs);
std::string sweepTable(const std::vector<SweepRun> &runs);

} // namespace sprig::frontend
