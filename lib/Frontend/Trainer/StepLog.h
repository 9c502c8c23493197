// What steps gave, read when it is there and never earlier: logging does not hold up the queue.
// For the trainer. Losses wait here as tensors until their steps have run; then they become history, lines of the
// metrics file, calls of onStep and the progress line.
#pragma once
#include "lib/Training/Metrics.h"
#include "sprig/trainer.h"
#include <chrono>
#include <deque>
#include <memory>
#include <tuple>

namespace sprig::frontend {

/// A file of metrics, by its ending: CSV, else JSON lines.
class MetricsFile {
public:
  virtual ~MetricsFile() = default;
  virtual void write(const training::StepMetrics &metrics) = 0;
  virtual void flush() = 0;
  /// Goes on after the lines of the first `resumeStep` steps; without, starts anew.
  static std::unique_ptr<MetricsFile> open(const std::filesystem::path &path, std::optional<int64_t> resumeStep);
};

class StepLog {
public:
  /// `total`: steps of the whole training, for the progress line.
  StepLog(const TrainerOptions &options, int64_t total, std::optional<int64_t> resumeStep, bool isFile, Source at);
  ~StepLog();

  void add(int64_t step, int64_t samples, Tensor loss, Tensor norm, double lr);
  /// Takes what is there; with `wait` everything. Throws what a step failed with.
  void collect(bool wait);
  /// An evaluation followed the last step.
  void attach(std::optional<double> loss, std::optional<double> accuracy);
  /// Everything that was collected is in the file.
  void flush();
  /// Removes the progress line.
  void clearProgress();

  /// Mean over the samples of the steps collected since the last call.
  double takeMeanLoss();
  /// Of what takeMeanLoss gives: losses times their samples, and samples.
  std::pair<double, int64_t> sums() const { return {lossSum, lossSamples}; }
  void setSums(std::pair<double, int64_t> sums) { std::tie(lossSum, lossSamples) = sums; }
  const std::vector<training::StepMetrics> &history() const { return collected; }

private:
  struct Pending {
    int64_t step, samples;
    Tensor loss, norm;
    double lr;
  };
  void take(const Pending &pending);
  void showProgress(const training::StepMetrics &metrics);
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count(); }

  const TrainerOptions &options;
  int64_t total;
  Source at;
  bool isTerminal, lineOpen = false;
  std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
  std::deque<Pending> pending;
  std::vector<training::StepMetrics> collected;
  size_t written = 0; ///< of those collected; the last is kept back, an evaluation may follow it
  std::unique_ptr<MetricsFile> file;
  double lossSum = 0;
  int64_t lossSamples = 0;
};

} // namespace sprig::frontend
