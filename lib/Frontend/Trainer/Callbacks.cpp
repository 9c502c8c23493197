// What ends a training early, and what keeps its best state.
#include "sprig/trainer.h"
#include <limits>
#include <memory>

namespace sprig {

static double watched(const EpochReport &report) { return report.evalLoss.value_or(report.loss); }

std::function<bool(const EpochReport &)> earlyStopping(const EarlyStoppingOptions &options) {
  struct State {
    double best = std::numeric_limits<double>::infinity();
    int64_t without = 0;
  };
  return [options, state = std::make_shared<State>()](const EpochReport &report) {
    // NaN is no improvement.
    if (watched(report) < state->best - options.minDelta) {
      state->best = watched(report);
      state->without = 0;
      return true;
    }
    return ++state->without < options.patience;
  };
}

std::function<bool(const EpochReport &)> saveBest(const nn::Module &module, std::filesystem::path path, Source at) {
  auto best = std::make_shared<double>(std::numeric_limits<double>::infinity());
  return [module, path = std::move(path), best, at](const EpochReport &report) {
    if (watched(report) < *best) {
      *best = watched(report);
      module.save(path, at);
    }
    return true;
  };
}

} // namespace sprig
