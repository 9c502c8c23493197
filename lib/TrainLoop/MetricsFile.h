// The file of metrics that a training run writes, as an observer of its loop.
#pragma once
#include "lib/TrainLoop/Loop.h"

namespace sprig::training {

class MetricsFile final : public LoopObserver {
public:
  /// Starts a file, or goes on with one after `resumeStep` steps; the loop's seconds go on with those of its last line.
  /// Throws Error where the file cannot be opened; what cannot be written later ends no run.
  MetricsFile(Loop &loop, const std::filesystem::path &path, std::optional<int64_t> resumeStep);

  void onStep(const StepMetrics &line) override {
    write([&] { writer->write(line); });
  }
  void onCheckpoint() override {
    write([&] { writer->flush(); });
  }
  void onEnd() override { onCheckpoint(); }

  /// The lines of the run before.
  const std::vector<StepMetrics> &kept() const { return earlier; }

private:
  Loop &loop;
  std::optional<MetricsWriter> writer; ///< until writing fails
  std::vector<StepMetrics> earlier;

  void write(const std::function<void()> &act) {
    if (writer && !loop.tryToWrite("training goes on without metrics", act)) writer.reset();
  }
};

} // namespace sprig::training
