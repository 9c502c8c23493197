#include "lib/Frontend/Dist/Group.h"
#include "lib/Frontend/Record.h"
#include "lib/Frontend/Trainer/Checkpoints.h"
#include "lib/Frontend/Trainer/ChooseRanks.h"
#include "lib/Frontend/Trainer/Evaluate.h"
#include "lib/Frontend/Trainer/Fit.h"
#include "lib/Frontend/Trainer/RankLoader.h"
#include "lib/Frontend/Trainer/RankStart.h"
#include "lib/Frontend/Trainer/RatePlateau.h"
#include "lib/Frontend/Trainer/Report.h"
#include "lib/Frontend/Trainer/StatePieces.h"
#include "lib/Frontend/Trainer/StepCalls.h"
#include "lib/Frontend/Trainer/StepLog.h"
#include "lib/Training/RunChart.h"
#include "lib/Training/Schedule.h"
#include "runtime/base/Decimal.h"
#include "sprig/random.h"
#include <cstdio>

namespace sprig {

using namespace frontend;

namespace {

bool isOther(const dist::Group *group) { return group && group->rank() > 0; }

/// The options of a rank: files, lines and calls are the first one's. `writes`: as fit has it.
TrainerOptions optionsOf(const TrainerOptions &given, bool writes) {
  TrainerOptions own = given;
  const bool others = isOther(given.group);
  if (!writes || others) {
    own.checkpoint.clear();
    own.resume = false;
  }
  if (!others) return own;
  own.print = false;
  own.onStep = {};
  own.onEpochEnd.clear();
  return own;
}

using Clock = std::chrono::steady_clock;

void printLine(const std::string &text) {
  std::printf("%s\n", text.c_str());
  std::fflush(stdout);
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

FitResult frontend::fit(const TrainerOptions &whole, const TrainingPrograms &programs, data::Loader &given,
                        data::Loader *givenEvaluation, bool writes, Source at) {
  const TrainerOptions options = optionsOf(whole, writes);
  dist::Group *group = options.group;
  const bool keeps = writes;
  writes &= !isOther(group);
  RankLoader shares(given, group, at, options.shares, options.scaleBatch, options.accumulate);
  data::Loader &train = shares.own();
  std::optional<RankLoader> evaluationShares;
  if (givenEvaluation) evaluationShares.emplace(*givenEvaluation, group, at, options.shares);
  const Training &training = programs.of();
  if (options.seed) manualSeed(*options.seed);
  std::optional<RatePlateau> plateau;
  if (options.plateau) plateau.emplace(training.optimizer, *options.plateau, givenEvaluation != nullptr, at);
  Checkpoints checkpoints(options, training, plateau ? &*plateau : nullptr, train, at);
  const int64_t firstEpoch = train.epoch(), batches = train.size();
  std::optional<checkpoints::Manifest> from = checkpoints.resume();
  if (group) checkBeginning(*group, train, evaluationShares ? &evaluationShares->own() : nullptr, at);
  if (group) from = beginAlike(*group, training, plateau ? &*plateau : nullptr, std::move(from), at);
  int64_t step = 0, epoch = 0, batch = 0;
  if (from) {
    step = from->step;
    epoch = from->epoch;
    batch = from->index;
    train.seek(firstEpoch + epoch, batch, at);
  }
  StatePieces pieces(training.optimizer, options.zero ? group : nullptr, at);
  // Checkpoints have whole arrays, for which all ranks meet.
  auto save = [&](int64_t epochs, int64_t batches) {
    if (!whole.checkpoint.empty() && keeps) pieces.join();
    checkpoints.save(step, epochs, batches);
    pieces.cut();
  };
  const int64_t compared = group ? options.checkReplicas : 0;
  if (compared) group->checkReplicas(*training.module, at);
  Rates rates(training.optimizer, at);
  StepLog log(options, options.maxEpochs * batches, from ? std::optional(step) : std::nullopt, writes, at);
  if (plateau && from) plateau->restoreSums(log);
  FitResult result;
  result.optimizer = training.optimizer;
  training.module->train();
  double seconds = 0;
  int64_t samples = 0, epochSamples = 0;
  auto taken = [&](const data::Batch &data, std::pair<Tensor, Tensor> results) {
    log.add(step, data.samplesOfRanks(), std::move(results.first), std::move(results.second), rates.at(step));
    epochSamples += data.samplesOfRanks();
    ++step;
  };
  StepCalls calls(programs, options.stepsPerCall, train, taken, at);
  for (; epoch < options.maxEpochs && !result.stopped; ++epoch, batch = 0) {
    EpochReport report;
    report.epoch = epoch;
    auto start = Clock::now();
    epochSamples = 0;
    const int64_t before = step - batch; // steps of earlier epochs
    bool isSaved = false;                // behind the epoch's last step
    for (const data::Batch &data : train) {
      calls.add(data);
      ++batch;
      isSaved = options.checkpointEvery > 0 && (before + batch) % options.checkpointEvery == 0;
      const bool isCompared = compared && (before + batch) % compared == 0;
      if (isSaved || isCompared || batch == batches) calls.askSingly();
      if (isCompared) group->checkReplicas(*training.module, at);
      log.collect(/*wait=*/false);
      if (isSaved && batch < batches) {
        // What the file of metrics says of these steps must be there when the run goes on after them.
        log.collect(/*wait=*/true);
        log.flush();
        if (plateau) plateau->keepSums(log);
        save(epoch, batch);
      }
    }
    log.collect(/*wait=*/true);
    report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
    report.steps = step;
    report.loss = log.takeMeanLoss();
    report.samplesPerSecond = double(epochSamples) / report.seconds;
    seconds += report.seconds;
    samples += epochSamples;
    if (evaluationShares) {
      Evaluation scores = evaluate(programs, evaluationShares->own(), group, at);
      report.evalLoss = scores.loss;
      report.accuracy = scores.accuracy;
      log.attach(scores.loss, scores.accuracy);
    }
    if (plateau) {
      if (plateau->endEpoch(report)) rates = Rates(training.optimizer, at);
      plateau->keepSums(log);
    }
    report.lr = rates.at(step);
    log.flush();
    if (options.checkpointEvery <= 0 || isSaved) save(epoch + 1, 0);
    log.clearProgress();
    if (writes && options.print) printLine(describeEpoch(report, options.maxEpochs));
    result.epochs.push_back(report);
    for (const auto &callback : options.onEpochEnd)
      if (callback && !callback(report)) result.stopped = true;
    if (group) result.stopped = group->broadcast(Tensor(result.stopped), 0, at).item<bool>(at);
  }
  pieces.join();
  checkpoints.save(step, epoch, 0);
  checkpoints.finish();
  if (group) group->checkReplicas(*training.module, at);
  result.steps = step;
  result.devices = {deviceOfModule(*training.module)};
  if (group) {
    result.ranks = group->size();
    result.devices = devicesOfRanks(*group, result.devices[0], at);
  }
  if (result.ranks > 1) result.bucketBytes = programs.bucketBytes();
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
    frontend::fail(at, "Trainer", std::string(what) + " is " + decimal::shortest(value) + ", expected " + expected);
  };
  if (options.maxEpochs < 0) refuse("maxEpochs", double(options.maxEpochs), "at least 0");
  if (options.ranks < 0) refuse("ranks", options.ranks, "at least 0");
  if (!StepCalls::canBe(options.stepsPerCall)) refuse("stepsPerCall", double(options.stepsPerCall), StepCalls::kSizes);
  if (options.stepsPerCall > 1 && !options.compile)
    frontend::fail(at, "Trainer", "stepsPerCall is of compiled steps, and compile is false");
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

static void applyClips(Training &training, const TrainerOptions &options, Source at) {
  if (options.clipNorm > 0) training.optimizer.setClipNorm(options.clipNorm, at);
  if (options.clipValue > 0) training.optimizer.setClipValue(options.clipValue, at);
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
    applyClips(own, given, at);
    scaleRates(own, given, at);
    TrainingPrograms programs(std::move(own), programOptions(given), at);
    FitResult found = frontend::fit(given, programs, train, evaluation, /*writes=*/true, at);
    // Of ranks that are threads the first one's.
    if (!group || group->rank() == 0 || dist::isLaunched() || options.group) result = std::move(found);
  });
  return result;
}

std::pair<double, std::optional<double>> Trainer::score(Training training, data::Loader &set) const {
  Evaluation scores;
  const bool isOne = !options.ranks && !dist::isLaunched(); // that has all threads
  onRanks(isOne ? 1 : options.ranks, std::move(training), [&](Training own, dist::Group *group) {
    TrainingPrograms programs(std::move(own), {.compile = options.compile, .group = group}, at);
    RankLoader shares(set, group, at, options.shares);
    Evaluation found = frontend::evaluate(programs, shares.own(), group, at);
    if (!group || group->rank() == 0 || dist::isLaunched() || options.group) scores = found;
  });
  return {scores.loss, scores.accuracy};
}

} // namespace sprig
