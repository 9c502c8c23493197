// What ends a training early, and what keeps its best state.
#include "lib/Frontend/Trainer/Report.h"
#include <memory>

namespace sprig {

namespace {

double watched(const EpochReport &report) { return report.evalLoss.value_or(report.loss); }

/// A callback whose state is part of checkpoints.
struct Watcher {
  std::shared_ptr<frontend::WatchedLoss> state = std::make_shared<frontend::WatchedLoss>();
  std::function<bool(frontend::WatchedLoss &state, const EpochReport &report)> see;
  bool operator()(const EpochReport &report) const { return see(*state, report); }
};

} // namespace

frontend::WatchedLoss *frontend::watchedOf(const std::function<bool(const EpochReport &)> &callback) {
  const auto *watcher = callback.target<Watcher>();
  return watcher ? watcher->state.get() : nullptr;
}

std::function<bool(const EpochReport &)> earlyStopping(const EarlyStoppingOptions &options) {
  return Watcher{.see = [options](frontend::WatchedLoss &state, const EpochReport &report) {
    // NaN is no improvement.
    if (watched(report) < state.best - options.minDelta) {
      state = {watched(report), 0};
      return true;
    }
    return ++state.without < options.patience;
  }};
}

std::function<bool(const EpochReport &)> saveBest(const nn::Module &module, std::filesystem::path path, Source at) {
  return Watcher{.see = [module, path = std::move(path), at](frontend::WatchedLoss &state, const EpochReport &report) {
    if (watched(report) < state.best) {
      state.best = watched(report);
      module.save(path, at);
    }
    return true;
  }};
}

} // namespace sprig
