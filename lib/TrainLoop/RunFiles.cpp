#include "lib/TrainLoop/RunFiles.h"
#include <cmath>

namespace sprig::training {

// A person who looks on need not wait for longer.
constexpr std::chrono::seconds kShowEvents{2};

MetricsFile::MetricsFile(Loop &loop, const std::filesystem::path &path, std::optional<int64_t> resumeStep)
    : RunFile(loop, "training goes on without metrics"), writer(path, resumeStep) {
  if (!kept().empty()) loop.goOnAt(kept().back().seconds);
}

TensorBoardFile::TensorBoardFile(Loop &loop, const std::filesystem::path &folder, std::optional<int64_t> resumeStep)
    : RunFile(loop, "training goes on without events"), file(folder, resumeStep) {}

void TensorBoardFile::onStep(const StepMetrics &line) {
  const double now = std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  write([&] {
    auto add = [&](std::string_view tag, double value) { file.add(line.step, tag, value, now); };
    add("loss", double(line.loss));
    if (!std::isnan(line.gradNorm)) add("grad_norm", double(line.gradNorm)); // NaN also says that it was not computed
    add("lr", line.lr);
    if (line.evalLoss) add("eval/loss", *line.evalLoss);
    if (line.evalAccuracy) add("eval/accuracy", *line.evalAccuracy);
    for (auto &[name, value] : line.numbers) add(name.starts_with("eval_") ? "eval/" + name.substr(5) : name, value);
    if (Clock::now() - flushedAt < kShowEvents) return;
    flushedAt = Clock::now();
    file.flush();
  });
}

} // namespace sprig::training
