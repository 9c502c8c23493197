#include "lib/Data/File.h"
#include "lib/Data/Listed.h"
#include "lib/Frontend/Dist/Group.h"
#include "lib/Frontend/Optim/OptimizerState.h"
#include "lib/Frontend/Record.h"
#include "lib/Frontend/Trainer/ChooseRanks.h"
#include "lib/Frontend/Trainer/Fit.h"
#include "lib/Frontend/Trainer/ModuleRunner.h"
#include "lib/Frontend/Trainer/RankLoader.h"
#include "lib/Frontend/Trainer/RankStart.h"
#include "lib/Frontend/Trainer/Report.h"
#include "lib/Frontend/Trainer/RunIdentity.h"
#include "lib/TrainLoop/RunFiles.h"
#include "lib/TrainLoop/Progress.h"
#include "lib/TrainLoop/ResumePoint.h"
#include "lib/TrainLoop/RunChart.h"
#include "lib/Training/Schedule.h"
#include "runtime/base/Decimal.h"
#include "sprig/debug.h"
#include "sprig/random.h"

namespace sprig {

using namespace frontend;

namespace {

/// The options of a rank: files, lines and calls are the first one's. `writes`: as fit has it.
TrainerOptions optionsOf(const TrainerOptions &given, bool writes) {
  TrainerOptions own = given;
  const bool others = isOther(given.group);
  if (!writes) own.checkpoint.clear();
  if (!writes || others) {
    own.resume = false;
    own.resumeFrom.clear();
    own.metrics.clear();
    own.tensorboard.clear();
    own.plot.clear();
  }
  own.print &= writes;
  if (!others) return own;
  own.print = false;
  own.onStep = {};
  own.onEpochEnd.clear();
  return own;
}

/// Where the module's tensors are, and so the first rank's.
Device deviceOfModule(const nn::Module &module) {
  std::vector<Parameter> parameters = module.parameters();
  return parameters.empty() ? defaultDevice() : parameters[0].value().device();
}

/// Each rank's, by which all meet.
std::vector<Device> devicesOfRanks(dist::Group &group, Device own, Source at) {
  Tensor all = group.allGather(Tensor({int64_t(own.kind()), int64_t(own.number())}), {}, at);
  const auto *numbers = all.data<int64_t>(at);
  std::vector<Device> devices;
  for (int rank = 0; rank < group.size(); ++rank)
    devices.emplace_back(Device::Kind(numbers[2 * rank]), uint16_t(numbers[2 * rank + 1]));
  return devices;
}

training::LoopOptions loopOptions(const TrainerOptions &options, const training::BatchSource &source, bool evaluates,
                                  Source at) {
  const training::BatchSource::Epoch epoch = source.epoch();
  training::LoopOptions loop;
  loop.steps = options.maxSteps ? options.maxSteps
                                : std::max<int64_t>(options.maxEpochs * epoch.steps - source.position().index, 0);
  loop.evaluates = evaluates;
  loop.evaluateEvery = options.evaluateEvery;
  loop.stepsPerCall = options.stepsPerCall;
  loop.compareEvery = options.group ? options.checkReplicas : 0;
  loop.checkpoints = options.checkpoint.string();
  loop.checkpointEvery = options.checkpointEvery;
  loop.keep = options.checkpointsKept;
  loop.writesCheckpoints = !isOther(options.group);
  loop.place = placeText(at) + "Trainer: ";
  if (options.plateau) {
    loop.plateau = optim::scheduleOf(*options.plateau, placeText(at) + "Trainer: plateau");
    loop.plateauField = "plateau.highest";
    if (options.plateau->highest && !evaluates)
      fail(at, "Trainer", "plateau.highest is of the accuracy of evaluations, and there are none");
    if (evaluates && options.evaluateEvery == 0)
      fail(at, "Trainer", "plateau goes by evaluations at the ends of epochs, and evaluateEvery is 0");
  }
  if (options.earlyStop || options.restoreBest) {
    loop.early = training::EarlyStop{.patience = options.earlyStop ? options.earlyStop->patience : 0,
                                     .minDelta = options.earlyStop ? options.earlyStop->minDelta : 0,
                                     .keepsBest = options.restoreBest};
    loop.monitor = options.monitor;
    loop.monitorField = "monitor";
  }
  loop.endsBySignal = options.endOnSignal;
  loop.meetsAtEpochs = true;
  loop.explainHint = ".debugNan = true names the operation";
  loop.hasOwnMetrics = true;
  return loop;
}

// A part that was set to evaluation mode stays so, as a trunk that is not to change.
void setModes(const nn::Module &module, bool prints) {
  if (!module.isTraining()) return module.train();
  nn::Module root = module;
  std::vector<std::string> names;
  for (auto &[name, each] : root.namedModules())
    if (!each->isTraining()) names.push_back(name);
  if (!names.empty() && prints) printLine("layers in evaluation mode: " + data::listed(names, 8));
}

} // namespace

// Throws where there could be no call of so many steps.
static void checkStepsPerCall(const TrainerOptions &options, const TrainingPrograms &programs,
                              const training::BatchSource &source, Source at) {
  if (options.stepsPerCall == 1) return;
  const std::string what = "stepsPerCall is " + std::to_string(options.stepsPerCall) + ", and ";
  const training::BatchSource::Epoch epoch = source.epoch();
  if (const int64_t whole = epoch.samples / epoch.samplesPerStep; whole < options.stepsPerCall)
    fail(at, "Trainer", what + "an epoch has " + std::to_string(whole) + " whole batches");
  if (!programs.isEnough(epoch.samplesPerStep))
    fail(at, "Trainer",
         what + "a batch of " + std::to_string(epoch.samplesPerStep) + " samples leaves ranks without any");
}

FitResult frontend::fit(const TrainerOptions &whole, const TrainingPrograms &programs, data::Loader &given,
                        data::Loader *givenEvaluation, bool writes, Source at) {
  const TrainerOptions options = optionsOf(whole, writes);
  dist::Group *group = options.group;
  if (!options.plot.empty()) data::checkWritable(options.plot);
  RankLoader shares(given, group, at, options.shares, options.scaleBatch, options.accumulate);
  data::Loader &train = shares.own();
  std::optional<RankLoader> evaluationShares;
  if (givenEvaluation) evaluationShares.emplace(*givenEvaluation, group, at, options.shares);
  data::Loader *evaluation = evaluationShares ? &evaluationShares->own() : nullptr;
  const Training &training = programs.of();
  if (options.seed) manualSeed(*options.seed);
  training::LoaderSource source(train, 1);
  checkStepsPerCall(options, programs, source, at);
  ModuleRunner runner(options, programs, evaluation, at);
  training::LoopOptions how = loopOptions(options, source, evaluation, at);
  how.identity = identityOf(options, runner, training, train, evaluation);
  training::Loop loop(runner, source, group ? &runner : nullptr, how);

  FitResult result;
  TrainerReport report(options, result, (how.steps + source.epoch().steps - 1) / source.epoch().steps);
  loop.add(report);
  std::optional<checkpoints::Checkpoint> found = findCheckpoint(options, how.identity, at);
  std::optional<checkpoints::Manifest> from;
  if (found) {
    from = found->manifest;
    loop.resume(std::move(*found));
  }
  if (group) {
    checkBeginning(*group, train, evaluation, at);
    beginAlike(*group, training, runner, loop, from, at);
  }
  runner.cutState();
  setModes(*training.module, options.print);
  const std::optional<int64_t> begin = from ? std::optional(from->step) : std::nullopt;
  std::optional<training::MetricsFile> metrics;
  if (!options.metrics.empty()) loop.add(metrics.emplace(loop, options.metrics, begin));
  std::optional<training::TensorBoardFile> events;
  if (!options.tensorboard.empty()) loop.add(events.emplace(loop, options.tensorboard, begin));
  training::RunHistory history(metrics ? metrics->kept() : std::vector<training::StepMetrics>());
  if (!options.plot.empty()) loop.add(history);
  training::Progress progress(how.steps, source.epoch(), std::nullopt);
  if (options.print && options.logEvery > 0) loop.add(progress);

  std::optional<DetectNonFinite> detects;
  if (options.debugNan) detects.emplace();
  training::LoopResult outcome = loop.run();
  detects.reset();
  runner.end();
  if (group) group->checkReplicas(*training.module, at);
  result.optimizer = training.optimizer;
  result.average = training.average;
  result.steps = outcome.steps;
  result.signal = outcome.signal;
  result.stopped = outcome.stopped;
  if (outcome.best && outcome.best->epoch >= 0) result.bestEpoch = outcome.best->epoch;
  const training::TimeSplit &time = outcome.time.total();
  result.time = {time.seconds, time.waiting, time.computing};
  result.devices = {deviceOfModule(*training.module)};
  if (group) {
    result.ranks = group->size();
    result.devices = devicesOfRanks(*group, result.devices[0], at);
  }
  if (result.ranks > 1) result.bucketBytes = programs.bucketBytes();
  report.end();
  if (!options.plot.empty())
    loop.tryToWrite("the training itself is done",
                    [&] { training::writeRunChart(options.plot, "training", describeResult(result), history.lines); });
  result.unwritten = loop.unwritten();
  return result;
}

Trainer::Trainer(TrainerOptions given, Source at) : options(std::move(given)), at(at) {
  auto refuse = [&](const char *what, double value, const char *expected) {
    frontend::fail(at, "Trainer", std::string(what) + " is " + decimal::shortest(value) + ", expected " + expected);
  };
  if (options.maxEpochs < 0) refuse("maxEpochs", double(options.maxEpochs), "at least 0");
  if (options.ranks < 0) refuse("ranks", options.ranks, "at least 0");
  if (options.maxSteps < 0) refuse("maxSteps", double(options.maxSteps), "at least 0");
  if (options.evaluateEvery < 0) refuse("evaluateEvery", double(options.evaluateEvery), "at least 0");
  if (options.earlyStop && options.earlyStop->patience < 1)
    refuse("earlyStop.patience", double(options.earlyStop->patience), "at least 1");
  if (options.earlyStop && !(options.earlyStop->minDelta >= 0))
    refuse("earlyStop.minDelta", options.earlyStop->minDelta, "at least 0");
  if (!options.monitor.empty() && !options.earlyStop && !options.restoreBest)
    frontend::fail(at, "Trainer", "monitor is what earlyStop and restoreBest go by, and neither is given");
  if (options.stepsPerCall < 1 || options.stepsPerCall > kMostRepetitions)
    refuse("stepsPerCall", double(options.stepsPerCall), ("1 to " + std::to_string(kMostRepetitions)).c_str());
  if (options.stepsPerCall > 1 && !options.compile)
    frontend::fail(at, "Trainer", "stepsPerCall is of compiled steps, and compile is false");
  if (options.stepsPerCall > 1 && options.debugNan)
    frontend::fail(at, "Trainer", "debugNan runs operations one by one, and stepsPerCall is above 1");
  if (options.accumulate < 1) refuse("accumulate", double(options.accumulate), "at least 1");
  if (options.group && options.ranks > 1 && options.group->size() != options.ranks)
    refuse("ranks", options.ranks, ("those of its group, " + std::to_string(options.group->size())).c_str());
  const int sharing = options.group ? options.group->size() : options.ranks;
  if (const size_t count = options.shares.size(); count && count != size_t(sharing))
    refuse("the number of shares", double(count), ("that of the ranks, " + std::to_string(sharing)).c_str());
  if (options.checkReplicas < 0) refuse("checkReplicas", double(options.checkReplicas), "at least 0");
  if (options.lrScaling != RateScaling::none && !options.scaleBatch)
    frontend::fail(at, "Trainer",
                   "lrScaling goes with scaleBatch; without it the batch of all ranks is the loader's, however many "
                   "they are");
  if (options.checkpointEvery < 0) refuse("checkpointEvery", double(options.checkpointEvery), "at least 0");
  if (options.checkpointsKept < 1) refuse("checkpointsKept", options.checkpointsKept, "at least 1");
  if (options.factors != FactorPolicy::never && !options.compile)
    frontend::fail(at, "Trainer", "factors are gathered in compiled steps, and compile is false");
  if (options.zero < 0 || options.zero > 1)
    refuse("zero", options.zero, "0 or 1: ranks share the optimizer's state, each has all gradients and parameters");
  if (options.bucketBytes < 0) refuse("bucketBytes", double(options.bucketBytes), "at least 0");
  if (options.bucketBytes && !options.compile)
    frontend::fail(at, "Trainer", "bucketBytes are of compiled steps, and compile is false");
  if (!(options.clipNorm >= 0)) refuse("clipNorm", options.clipNorm, "at least 0");
  if (!(options.clipValue >= 0)) refuse("clipValue", options.clipValue, "at least 0");
}

void Trainer::requireTwo(const std::vector<Tensor> &batch, Source at) {
  if (batch.size() != 2)
    frontend::fail(at, "Trainer",
                   "a batch has " + std::to_string(batch.size()) +
                       " fields, and the module's step takes x and y; let it take a vector of them");
}

static void applyOptions(Training &training, const TrainerOptions &options, Source at) {
  if (options.clipNorm > 0) training.optimizer.setClipNorm(options.clipNorm, at);
  if (options.clipValue > 0) training.optimizer.setClipValue(options.clipValue, at);
  if (options.ema) training.average.emplace(training.optimizer.parameters(), *options.ema, at);
}

/// Before a checkpoint is read, which has rates of its own.
static void scaleRates(const Training &training, const TrainerOptions &options, Source at) {
  if (options.lrScaling == RateScaling::none || !options.group) return;
  using training::RateRule;
  const double factor = training::rateFactor(
      options.lrScaling == RateScaling::linear ? RateRule::linear : RateRule::sqrt, options.group->size());
  for (size_t group = 0; group < training.optimizer.groups(); ++group)
    training.optimizer.setLr(training.optimizer.baseLr(group, at) * factor, group, at);
}

void Trainer::onRanks(int ranks, Training training, const std::function<void(Training, dist::Group *)> &body) const {
  if (options.group || ranks == 1) return body(std::move(training), options.group);
  if (dist::isLaunched())
    return dist::joinAgain(
        [&](dist::Group &group) {
          if (ranks && group.size() != ranks)
            frontend::fail(at, "Trainer",
                           "ranks is " + std::to_string(ranks) + ", and the process was launched as one of " +
                               std::to_string(group.size()));
          body(training, &group);
        },
        at);
  if (!training.copy)
    frontend::fail(at, "Trainer",
                   "the module cannot be copied, which ranks that are threads need; run it by "
                   "dist::spawn with group, and a module in each rank");
  std::vector<std::function<Training()>> copies;
  for (int rank = 1; rank < ranks; ++rank) copies.push_back(training.copy());
  dist::spawnFrom(
      ranks, [&](dist::Group &group) { body(group.rank() ? copies[size_t(group.rank() - 1)]() : training, &group); },
      {.devices = {deviceOfModule(*training.module)}}, at);
}

FitResult Trainer::run(Training training, data::Loader &train, data::Loader *evaluation) const {
  int ranks = options.ranks;
  if (!ranks && !options.group && !dist::isLaunched()) {
    ChosenRanks chosen = chooseRanks(training, options, train, at);
    ranks = chosen.ranks;
    if (options.print)
      printLine("ranks: " + std::to_string(ranks) + ", " + chosen.why +
                "; results depend on it, .ranks = " + std::to_string(ranks) + " keeps to it");
  }
  FitResult result;
  onRanks(ranks, std::move(training), [&](Training own, dist::Group *group) {
    TrainerOptions given = options;
    given.group = group;
    applyOptions(own, given, at);
    scaleRates(own, given, at);
    TrainingPrograms programs(std::move(own), programOptions(given), at);
    FitResult found = frontend::fit(given, programs, train, evaluation, /*writes=*/true, at);
    // Of ranks that are threads the first one's.
    if (!group || group->rank() == 0 || dist::isLaunched() || options.group) result = std::move(found);
  });
  return result;
}

std::pair<double, std::optional<double>> Trainer::score(Training training, data::Loader &set) const {
  training::Evaluation scores;
  const bool isOne = !options.ranks && !dist::isLaunched(); // that has all threads
  onRanks(isOne ? 1 : options.ranks, std::move(training), [&](Training own, dist::Group *group) {
    TrainingPrograms programs(std::move(own), {.compile = options.compile, .group = group}, at);
    RankLoader shares(set, group, at, options.shares);
    training::Evaluation found = frontend::evaluate(programs, shares.own(), group, at);
    if (!group || group->rank() == 0 || dist::isLaunched() || options.group) scores = found;
  });
  return {scores.loss, scores.accuracy};
}

} // namespace sprig
