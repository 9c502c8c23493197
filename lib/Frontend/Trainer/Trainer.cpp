#include "lib/Frontend/Record.h"
#include "lib/Frontend/Trainer/Checkpoints.h"
#include "lib/Frontend/Trainer/Evaluate.h"
#include "lib/Frontend/Trainer/Fit.h"
#include "lib/Frontend/Trainer/Report.h"
#include "lib/Frontend/Trainer/StepLog.h"
#include "lib/Training/RunChart.h"
#include "sprig/random.h"
#include <cstdio>

namespace sprig {

using namespace frontend;

namespace {

using Clock = std::chrono::steady_clock;

void printLine(const std::string &text) {
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
}

/// The rate of a step, on the host: a schedule is a function of the number of steps, so nothing waits for the device.
class Rates {
public:
  Rates(const optim::Optimizer &optimizer, Source at) : base(optimizer.baseLr(0, at)), schedule(optimizer.schedule()) {}
  double at(int64_t step) const { return schedule ? schedule->at(base, step) : base; }

private:
  double base;
  std::optional<optim::Schedule> schedule;
};

} // namespace

FitResult frontend::fit(const TrainerOptions &options, const TrainingPrograms &programs, data::Loader &train,
                        data::Loader *evaluation, bool writes, Source at) {
  refuseShares(train, at);
  if (evaluation) refuseShares(*evaluation, at);
  const Training &training = programs.of();
  TrainerOptions silent = options;
  if (!writes) {
    silent.checkpoint.clear();
    silent.resume = false;
  }
  if (options.seed) manualSeed(*options.seed);
  Checkpoints checkpoints(silent, training, train, at);
  const int64_t firstEpoch = train.epoch(), batches = train.size();
  std::optional<checkpoint::Manifest> from = checkpoints.resume();
  int64_t step = 0, epoch = 0, batch = 0;
  if (from) {
    step = from->step;
    epoch = from->epoch;
    batch = from->index;
    train.seek(firstEpoch + epoch, batch, at);
  }
  Rates rates(training.optimizer, at);
  StepLog log(options, options.maxEpochs * batches, from ? std::optional(step) : std::nullopt, writes, at);
  FitResult result;
  result.optimizer = training.optimizer;
  training.module->train();
  double seconds = 0;
  int64_t samples = 0;
  for (; epoch < options.maxEpochs && !result.stopped; ++epoch, batch = 0) {
    EpochReport report;
    report.epoch = epoch;
    auto start = Clock::now();
    int64_t epochSamples = 0;
    for (const data::Batch &data : train) {
      auto [loss, norm] = programs.step(data);
      log.add(step, data.size(), std::move(loss), std::move(norm), rates.at(step));
      log.collect(/*wait=*/false);
      epochSamples += data.size();
      ++step;
      ++batch;
      if (options.checkpointEvery > 0 && step % options.checkpointEvery == 0) {
        // What the file of metrics says of these steps must be there when the run goes on after them.
        log.collect(/*wait=*/true);
        log.flush();
        checkpoints.save(step, epoch, batch);
      }
    }
    log.collect(/*wait=*/true);
    report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    report.steps = step;
    report.loss = log.takeMeanLoss();
    report.lr = rates.at(step);
    report.samplesPerSecond = double(epochSamples) / report.seconds;
    seconds += report.seconds;
    samples += epochSamples;
    if (evaluation) {
      Evaluation scores = evaluate(programs, *evaluation, at);
      report.evalLoss = scores.loss;
      report.accuracy = scores.accuracy;
      log.attach(scores.loss, scores.accuracy);
    }
    log.flush();
    if (options.checkpointEvery <= 0) checkpoints.save(step, epoch + 1, 0);
    log.clearProgress();
    if (writes && options.print) printLine(describeEpoch(report, options.maxEpochs));
    result.epochs.push_back(report);
    for (const auto &callback : options.onEpochEnd)
      if (callback && !callback(report)) result.stopped = true;
  }
  checkpoints.save(step, epoch, 0);
  checkpoints.finish();
  result.steps = step;
  for (const training::StepMetrics &line : log.history()) result.losses.push_back(line.loss);
  if (!result.epochs.empty()) {
    result.secondsPerEpoch = seconds / double(result.epochs.size());
    result.samplesPerSecond = double(samples) / seconds;
  }
  if (writes && options.print && !result.epochs.empty()) printLine(describeResult(result));
  if (writes && !options.plot.empty())
    training::writeRunChart(options.plot, "training", describeResult(result), log.history());
  return result;
}

Trainer::Trainer(TrainerOptions given, Source at) : options(std::move(given)), at(at) {
  auto refuse = [&](const char *what, double value, const char *expected) {
    frontend::fail(at, "Trainer", std::string(what) + " is " + std::to_string(value) + ", expected " + expected);
  };
  if (options.maxEpochs < 0) refuse("maxEpochs", double(options.maxEpochs), "at least 0");
  if (options.checkpointEvery < 0) refuse("checkpointEvery", double(options.checkpointEvery), "at least 0");
  if (options.checkpointsKept < 1) refuse("checkpointsKept", options.checkpointsKept, "at least 1");
  if (!(options.clipNorm >= 0)) refuse("clipNorm", options.clipNorm, "at least 0");
  if (!(options.clipValue >= 0)) refuse("clipValue", options.clipValue, "at least 0");
}

void Trainer::requireTwo(const std::vector<Tensor> &batch, Source at) {
  if (batch.size() != 2)
    frontend::fail(at, "Trainer",
                   "a batch has " + std::to_string(batch.size()) +
                       " fields, and the module's step takes x and y; let it take a vector of them");
}

static void applyClips(Training &training, const TrainerOptions &options, Source at) {
  if (options.clipNorm > 0) training.optimizer.setClipNorm(options.clipNorm, at);
  if (options.clipValue > 0) training.optimizer.setClipValue(options.clipValue, at);
}

FitResult Trainer::run(Training training, data::Loader &train, data::Loader *evaluation) const {
  applyClips(training, options, at);
  return frontend::fit(options, TrainingPrograms(std::move(training), options.compile, wantsNorm(options), at), train,
                       evaluation, /*writes=*/true, at);
}

std::pair<double, std::optional<double>> Trainer::score(Training training, data::Loader &set) const {
  Evaluation scores = frontend::evaluate(TrainingPrograms(std::move(training), options.compile, false, at), set, at);
  return {scores.loss, scores.accuracy};
}

} // namespace sprig
