#include "tools/sprig/train/TrainSizes.h"
#include "tools/sprig/Report.h"
#include "tools/sprig/train/TrainSet.h"
#include <set>

namespace sprig::cli {

void checkSizes(const std::string &package, const TrainProgram &program, const training::TrainConfig &config,
                int64_t samples, std::optional<int64_t> evaluated) {
  auto require = [&](const std::vector<int64_t> &needed, const std::vector<int64_t> &there, const std::string &what) {
    std::set<int64_t> sizes(there.begin(), there.end());
    for (int64_t size : needed) {
      if (sizes.count(size)) continue;
      std::string list;
      for (int64_t each : sizes) list += (list.empty() ? "" : ", ") + std::to_string(each);
      badInput(package + ": has no entry for " + what + " of " + std::to_string(size) +
               " samples, only of: " + (list.empty() ? "none" : list));
    }
  };
  // A run of less than an epoch does not come to its last batch.
  int64_t each = config.batch * config.accumulate;
  if (*config.steps <= samples / each) samples = *config.steps * each;
  require(partSizes(samples, each, config.dropLast), program.stepSizes(), "steps");
  if (evaluated)
    require(partSizes(*evaluated, config.evalBatch.value_or(config.batch), false), program.evaluationSizes(),
            "evaluations");
}

void checkStepsPerCall(int64_t steps, const training::TrainConfig &config, int64_t samples) {
  int64_t whole = samples / (config.batch * config.accumulate);
  if (steps <= 1 || (steps <= whole && steps <= *config.steps)) return;
  badUse("--steps-per-call " + std::to_string(steps) + ": " +
         (steps > whole ? "an epoch has " + std::to_string(whole) + " whole batches"
                        : "the run has " + std::to_string(*config.steps) + " steps"));
}

} // namespace sprig::cli
