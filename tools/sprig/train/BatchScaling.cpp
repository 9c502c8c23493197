#include "tools/sprig/train/BatchScaling.h"
#include "lib/Training/Schedule.h"
#include "tools/sprig/Report.h"

namespace sprig::cli {

double scaleBatch(training::TrainConfig &config, const TrainOptions &options, const Model &model, int ranks) {
  using training::RateRule;
  if (!options.scaleBatch) {
    if (options.lrScaling == "none") return 1;
    badUse("--lr-scaling " + options.lrScaling +
           ": goes with --scale-batch; without it the batch of all ranks is the "
           "configuration's, however many they are");
  }
  if (model.kind == ModelKind::package)
    badUse("--scale-batch: the steps of " + options.model + " were compiled for a batch of all ranks of " +
           std::to_string(config.batch));
  if (__int128_t(config.batch) * config.accumulate * ranks > INT64_MAX)
    badUse("--scale-batch: a step of " + std::to_string(ranks) + " times " +
           std::to_string(config.batch * config.accumulate) + " samples is too large");
  config.batch *= ranks;
  RateRule rule = options.lrScaling == "linear" ? RateRule::linear
                  : options.lrScaling == "sqrt" ? RateRule::sqrt
                                                : RateRule::none;
  double factor = training::rateFactor(rule, ranks);
  if (factor != 1) training::scaleRates(config, factor);
  return factor;
}

} // namespace sprig::cli
