// The files that a training run writes step by step, as observers of its loop: metrics, and events for TensorBoard.
#pragma once
#include "lib/Events/EventFile.h"
#include "lib/TrainLoop/Loop.h"

namespace sprig::training {

/// A file that ends no run when it cannot be written: the run goes on without it.
class RunFile : public LoopObserver {
public:
  void onCheckpoint() override {
    write([this] { flush(); });
  }
  void onEnd() override { onCheckpoint(); }

protected:
  RunFile(Loop &loop, const char *consequence) : loop(loop), consequence(consequence) {}
  void write(const std::function<void()> &act) { isLost = isLost || !loop.tryToWrite(consequence, act); }
  virtual void flush() = 0;

private:
  Loop &loop;
  const char *consequence;
  bool isLost = false;
};

class MetricsFile final : public RunFile {
public:
  /// Starts a file, or goes on with one after `resumeStep` steps; the loop's seconds go on with those of its last line.
  /// Throws Error where the file cannot be opened.
  MetricsFile(Loop &loop, const std::filesystem::path &path, std::optional<int64_t> resumeStep);
  void onStep(const StepMetrics &line) override {
    write([&] { writer.write(line); });
  }
  /// The lines of the run before.
  const std::vector<StepMetrics> &kept() const { return writer.kept(); }

private:
  MetricsWriter writer;
  void flush() override { writer.flush(); }
};

/// Tags: loss, grad_norm, lr, eval/loss, eval/accuracy; other numbers by their names, with eval/ in place of eval_.
class TensorBoardFile final : public RunFile {
public:
  /// A new file in the folder, which replaces events of `resumeStep` and later steps, or all. Throws Error: unsupported
  /// without libsprig_events.so.
  TensorBoardFile(Loop &loop, const std::filesystem::path &folder, std::optional<int64_t> resumeStep);
  void onStep(const StepMetrics &line) override;

private:
  events::EventFile file;
  Clock::time_point flushedAt = Clock::now();
  void flush() override { file.flush(); }
};

} // namespace sprig::training
