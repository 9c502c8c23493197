// Several learning rates with one compiled step: the rate is state on the device, and a new start is new values of the
// same parameters.
#include "lib/Frontend/Record.h"
#include "lib/Frontend/Trainer/Fit.h"
#include "lib/Frontend/Trainer/Report.h"
#include "lib/Training/StateNames.h"
#include "sprig/random.h"
#include <cstdio>

namespace sprig {

using namespace frontend;

std::vector<SweepRun> Trainer::runSweep(Training training, std::span<const double> rates, data::Loader &train,
                                        data::Loader *evaluation) const {
  if (options.group || options.ranks > 1)
    unsupported(placeText(at) + "Trainer::sweep: has no ranks; fit each rate by itself");
  if (rates.empty()) frontend::fail(at, "Trainer::sweep", "there is no learning rate to try");
  if (options.clipNorm > 0) training.optimizer.setClipNorm(options.clipNorm, at);
  if (options.clipValue > 0) training.optimizer.setClipValue(options.clipValue, at);
  const optim::Optimizer optimizer = training.optimizer;
  const nn::Module module = *training.module;
  const nn::StateDict fresh = optimizer.stateDict();
  size_t groups = 0;
  for (const nn::NamedTensor &row : fresh) groups += row.name.starts_with(training::kLr);
  TrainingPrograms programs(std::move(training), programOptions(options), at);

  const int64_t firstEpoch = train.epoch(), firstEvaluation = evaluation ? evaluation->epoch() : 0;
  std::vector<SweepRun> runs;
  for (double rate : rates) {
    manualSeed(options.seed.value_or(0));
    module.resetParameters(at);
    optimizer.loadStateDict(fresh, at);
    for (size_t group = 0; group < groups; ++group) optimizer.setLr(rate, group, at);
    train.seek(firstEpoch, 0, at);
    if (evaluation) evaluation->seek(firstEvaluation, 0, at);
    runs.push_back({rate, frontend::fit(options, programs, train, evaluation, /*writes=*/false, at)});
    if (runs.back().result.signal) break;
  }
  if (options.print) {
    std::printf("%s%zu runs, recorded %zu times\n", sweepTable(runs).c_str(), runs.size(), programs.recordings());
    std::fflush(stdout);
  }
  if (!options.plot.empty()) plotSweep(options.plot, runs);
  return runs;
}

} // namespace sprig
