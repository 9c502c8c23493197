// sprig bench sweep WHAT: LeNet and ResNet-18 trained over numbers of ranks, batches or learning rates, and evaluated
// on several ranks: accuracy and time of each, and what must be the same whatever the number of ranks.
#include "lib/Machine/TopologyPresets.h"
#include "lib/Data/File.h"
#include "lib/Data/Largest.h"
#include "lib/Training/Schedule.h"
#include "tools/sprig/bench/Experiment.h"
#include "tools/sprig/bench/SweptTraining.h"
#include "tools/sprig/bench/SweptRates.h"
#include "tools/sprig/simulate/SimulatedRanks.h"
#include "tools/sprig/train/TrainResults.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <thread>

namespace sprig::cli {
namespace {

constexpr double kRate = 0.2, kFirstRate = 0.05;
constexpr int kRates = 12, kMostSimulated = 16;
constexpr int64_t kComparedSteps = 3;
// Larger steps than these make more of the same difference.
constexpr double kComparedRate = 0.01;
// Steps from which on a run has learnt: fewer say nothing.
constexpr int64_t kStepsToLearn = 16;
constexpr const char *kCards = "v100-nvlink";

// How far losses may be apart, in parts of their size, where ranks add up what one rank does in another order. A sum of
// n numbers in f32 is off by about sqrt(n) u of what it would be without signs, u = 2^-24 (Higham and Mary, SIAM J.
// Sci. Comput. 41(5), 2019: beyond a few times that it hardly ever is); both of the runs are, and each step adds to it.
double rounding(int64_t longestSum, int64_t steps) {
  return 2 * double(steps) * std::sqrt(double(longestSum)) * 0x1p-24;
}

// What the flags leave open, by network.
struct ChosenSweep {
  SweptTraining::MakeNetwork make;
  const char *name;
  int64_t batch, epochs, samples, tests;
  int64_t width = 0;
};

TrainedNetwork makeLeNet(const std::vector<int64_t> &sizes, int64_t) { return leNet(sizes); }

ChosenSweep choose(const SweepFlags &flags) {
  ChosenSweep chosen{makeLeNet, "LeNet", 64, 3, 2048, 1000};
  if (flags.network == "resnet18")
    chosen = {resNet18, "ResNet-18", 16, 2, 512, 256, flags.width ? flags.width : 8};
  else if (!flags.network.empty() && flags.network != "lenet")
    badUse("--network: expected lenet or resnet18, found '" + flags.network + "'");
  else if (flags.width)
    badUse("--width: goes with --network resnet18");
  if (flags.batch) chosen.batch = flags.batch;
  if (flags.epochs) chosen.epochs = flags.epochs;
  // Of given images all are taken, unless it is said how many.
  if (flags.samples || !flags.data.empty()) chosen.samples = flags.samples;
  if (flags.tests || !flags.data.empty()) chosen.tests = flags.tests;
  return chosen;
}

class Sweep {
public:
  Sweep(const ExperimentOptions &options, ExperimentReport &report)
      : options(options), flags(options.sweep), chosen(choose(flags)), report(report),
        training(chosen.make, chosen.width,
                 flags.data.empty() ? generatedImages(chosen.samples, chosen.tests, 1)
                                    : imagesOf(flags.data, chosen.samples, chosen.tests),
                 chosen.epochs, uint64_t(std::max<int64_t>(flags.seeds, 1)), options.settings) {}

  void overRanks();
  void overBatches();
  void overRates();
  void evaluations();

  /// What all sweeps must show, and what they were of.
  void finish();
  void draw(SweptOver over) const;

private:
  const ExperimentOptions &options;
  const SweepFlags &flags;
  ChosenSweep chosen;
  ExperimentReport &report;
  SweptTraining training;
  std::vector<SweptRun> runs;
  size_t planned = 0;

  double rate() const {
    if (flags.rates.size() > 1) badUse("--rate: several go with 'bench sweep rates', this one is at one rate");
    return flags.rates.empty() ? kRate : flags.rates.front();
  }

  const SweptRun &run(const SweepPoint &point) {
    inform("run " + std::to_string(runs.size() + 1) + " of " + std::to_string(planned) + ": " +
           std::to_string(point.ranks) + (point.ranks == 1 ? " rank" : " ranks") + ", batch " +
           std::to_string(point.batch) + ", rate " + formatDouble(point.rate, 4));
    return runs.emplace_back(training.run(point));
  }

  std::vector<const SweptRun *> allRuns() const {
    std::vector<const SweptRun *> all;
    for (const SweptRun &each : runs) all.push_back(&each);
    return all;
  }
  static Json accuracyOf(const SweptRun &run) {
    return run.outcome ? Json(100 * *run.outcome->evaluation->accuracy) : Json("diverged");
  }
  static Json lossOf(const SweptRun &run) { return run.outcome ? Json(run.outcome->epochLoss) : Json(run.failure); }
  static Json secondsOf(const SweptRun &run) { return run.outcome ? Json(run.epochSeconds()) : Json(nullptr); }

  void row(const SweptRun &run, std::vector<Json> more = {}) {
    std::vector<Json> cells = {run.point.ranks, run.point.batch, run.stepsOfEpoch,
                               lossOf(run),     accuracyOf(run), secondsOf(run)};
    cells.insert(cells.end(), more.begin(), more.end());
    report.row(cells);
  }

  void compareWithOne(int ranks, int64_t batch);
  void judgeRanks();
  void judgeBatches();
  void judgeLearning(const std::vector<const SweptRun *> &judged);
};

// A fault of gradients, updates or data that all ranks share leaves them alike: only what they learn tells.
void Sweep::judgeLearning(const std::vector<const SweptRun *> &judged) {
  bool learns = true;
  int64_t count = 0;
  double least = INFINITY;
  for (const SweptRun *each : judged) {
    if (!each->outcome || each->outcome->steps < kStepsToLearn) continue;
    double times = each->firstLoss() / each->outcome->epochLoss;
    learns &= times > 1;
    least = std::min(least, times);
    ++count;
  }
  if (count)
    report.verdict("runs of " + std::to_string(kStepsToLearn) +
                       " steps and more end with a smaller loss than they begin",
                   std::to_string(count) + " runs, by a factor of " + formatDouble(least, 3) + " at least", learns);
}

// At one rate, which more ranks take with a larger batch.
void Sweep::judgeRanks() {
  judgeLearning(allRuns());
  const SweptRun &one = runs.front(), &most = runs.back();
  if (one.outcome && most.outcome && most.point.ranks > 1)
    report.note(std::to_string(most.point.ranks) + " times the batch at the same rate changes accuracy by " +
                formatDouble(100 * (*most.outcome->evaluation->accuracy - *one.outcome->evaluation->accuracy), 3) +
                " points");
}

// Each batch is twice the one before.
void Sweep::judgeBatches() {
  judgeLearning(allRuns());
  if (!std::all_of(runs.begin(), runs.end(), [](const SweptRun &each) { return each.outcome.has_value(); })) return;
  const SweptRun &small = runs.front(), &large = runs.back();
  auto gain = [&](size_t i) { return runs[i].epochSeconds() / runs[i + 1].epochSeconds(); };
  double first = gain(0), last = gain(runs.size() - 2);
  report.timed("an epoch takes less time in larger batches, and the last doubling saves less than the first",
               formatDouble(first, 3) + " and " + formatDouble(last, 3) + " times as fast as half of the batch",
               large.epochSeconds() < small.epochSeconds() && last < first);
  // Of a few samples large batches are the same again and again.
  if (small.outcome->steps < 4 * kStepsToLearn || 2 * large.point.batch > training.images().train.count()) return;
  report.verdict("the largest batch learns less in as many epochs than the smallest",
                 "losses of " + formatDouble(large.outcome->epochLoss, 3) + " and " +
                     formatDouble(small.outcome->epochLoss, 3) + " after " + std::to_string(large.outcome->steps) +
                     " and " + std::to_string(small.outcome->steps) + " steps",
                 large.outcome->epochLoss > small.outcome->epochLoss);
}

// A few steps by so many ranks and by one, where these are two.
void Sweep::compareWithOne(int ranks, int64_t batch) {
  if (ranks < 2) return;
  inform("first steps of " + std::to_string(ranks) + " ranks and of one, batch " + std::to_string(batch));
  std::vector<double> many = training.firstLosses({ranks, batch, kComparedRate}, kComparedSteps);
  std::vector<double> one = training.firstLosses({1, batch, kComparedRate}, kComparedSteps);
  double worst = many.size() == one.size() && !one.empty() ? 0 : INFINITY;
  for (size_t i = 0; i < std::min(one.size(), many.size()); ++i)
    worst = data::largest(worst, std::abs(many[i] - one[i]) / std::abs(one[i]));
  // The longest sums are over all samples and places: gradients of the first filters, statistics of batch norms.
  double most = rounding(batch * kImagePlaces, int64_t(one.size()));
  report.verdict(std::to_string(ranks) + " ranks take the steps that one takes",
                 "losses of " + std::to_string(one.size()) + " steps of " + std::to_string(batch) +
                     " samples differ by " + formatDouble(worst, 2) + " of their size, by rounding up to " +
                     formatDouble(most, 2),
                 worst <= most);
}

void Sweep::overRanks() {
  bool isSmall = chosen.width == 0;
  int most = options.ranks ? options.ranks : isSmall ? 2 : 8;
  std::vector<int> counts = doubledTo(most);
  planned = counts.size();
  double lr = rate();
  report.table("ranks", {"ranks", "batch", "steps an epoch", "loss", "accuracy %", "s an epoch", "speed-up"});
  for (int count : counts) {
    const SweptRun &each = run({count, chosen.batch * count, lr});
    bool isBoth = each.outcome && runs.front().outcome;
    row(each, {isBoth ? Json(runs.front().epochSeconds() / each.epochSeconds()) : Json(nullptr)});
  }
  judgeRanks();
  compareWithOne(most, chosen.batch * most);
  // On machines that are not here: of a card for each rank.
  counts.erase(std::remove_if(counts.begin(), counts.end(), [](int count) { return count > kMostSimulated; }),
               counts.end());
  for (int count : {4, 8, kMostSimulated})
    if (count > counts.back()) counts.push_back(count);
  TrainedNetwork network = chosen.make(batchesOf(chosen.batch, counts), chosen.width);
  RankSettings settings;
  settings.ranks = counts;
  settings.scaling = Scaling::weak;
  RankedSteps steps(network.model, network.config, options.settings, settings);
  machine::Topology cards = *machine::topologyPreset(kCards);
  report.table("simulated on " + cards.name,
               {"ranks", "batch", "steps an epoch", "s an epoch", "speed-up", "efficiency %"});
  double first = 0, second = 0; // seconds of an epoch, of one card and of the next number
  int64_t stepsOfFirst = 0, stepsOfSecond = 0;
  bool isSound = true;
  for (int count : counts) {
    PlayedRanks point = steps.play(cards, count);
    int64_t batch = chosen.batch * count, samples = training.images().train.count(),
            stepsOfEpoch = (samples + batch - 1) / batch;
    double seconds = point.ns * 1e-9 * double(stepsOfEpoch);
    if (count == 1) first = seconds, stepsOfFirst = stepsOfEpoch;
    if (count == counts[1]) second = seconds, stepsOfSecond = stepsOfEpoch;
    isSound &= point.efficiency <= 1 + 1e-9;
    report.row({count, batch, stepsOfEpoch, seconds, first / seconds, 100 * point.efficiency});
  }
  if (stepsOfSecond < stepsOfFirst)
    report.verdict("on " + std::to_string(counts[1]) + " cards, simulated, an epoch takes less time than on one",
                   formatDouble(first / second, 3) + " times as fast", second < first);
  report.verdict("no number of cards is more than ideal", isSound ? "all within" : "some are", isSound);
}

void Sweep::overBatches() {
  int ranks = options.ranks ? options.ranks : 2;
  planned = 5;
  double lr = rate();
  report.table("batches",
               {"ranks", "batch", "steps an epoch", "loss", "accuracy %", "s an epoch", "samples/s", "memory, bytes"});
  for (int64_t batch = chosen.batch, i = 0; i < int64_t(planned); ++i, batch *= 2) {
    const SweptRun &each = run({ranks, batch, lr});
    Json perSecond = each.outcome ? Json(double(training.images().train.count()) / each.epochSeconds()) : Json(nullptr);
    row(each, {perSecond, int64_t(each.memoryPeak)});
  }
  judgeBatches();
  compareWithOne(ranks, chosen.batch);
}

void Sweep::overRates() {
  std::vector<double> rates = flags.rates;
  if (rates.empty())
    for (int i = 0; i < kRates; ++i) rates.push_back(kFirstRate * (i + 1));
  int ranks = options.ranks ? options.ranks : 2;
  auto seeds = uint64_t(std::max<int64_t>(flags.seeds, 1));
  planned = rates.size() * seeds * (ranks > 1 ? 2 : 1);
  std::vector<int> counts = {1};
  if (ranks > 1) counts.push_back(ranks);
  std::vector<RateCurve> curves;
  runs.reserve(planned); // rows point to them
  for (int count : counts) {
    RateCurve &curve = curves.emplace_back();
    for (double lr : rates) {
      RateRuns &runsOfRate = curve.emplace_back(RateRuns{lr, {}});
      for (uint64_t seed = 1; seed <= seeds; ++seed)
        runsOfRate.runs.push_back(&run({count, chosen.batch * count, lr, seed}));
    }
  }
  std::vector<std::string> header = {"rate"};
  for (int count : counts)
    for (const char *what : {"loss, batch ", "accuracy %, batch "})
      header.push_back(what + std::to_string(chosen.batch * count));
  report.table("rates", header);
  for (size_t i = 0; i < rates.size(); ++i) {
    std::vector<Json> cells = {rates[i]};
    for (const RateCurve &curve : curves) {
      const RateRuns &each = curve[i];
      if (const SweptRun *diverged = each.diverged())
        cells.insert(cells.end(), {lossOf(*diverged), accuracyOf(*diverged)});
      else
        cells.insert(cells.end(), {each.mean(RateRuns::lossOf), 100 * each.accuracy()});
    }
    report.row(cells);
  }
  report.table("best", {"ranks", "batch", "best rate", "accuracy %", "spread %", "linear rule", "sqrt rule"});
  const RateRuns *first = bestRateOf(curves.front());
  std::vector<const SweptRun *> best;
  bool isSameStart = true;
  for (size_t c = 0; c < curves.size(); ++c) {
    // A rate is nothing that the first loss depends on: weights, statistics and order are a new run's.
    std::map<uint64_t, double> firstLosses;
    for (const RateRuns &each : curves[c])
      for (const SweptRun *run : each.runs)
        if (run->outcome)
          isSameStart &= firstLosses.emplace(run->point.seed, run->firstLoss()).first->second == run->firstLoss();
    const RateRuns *own = bestRateOf(curves[c]);
    if (!own) continue;
    best.insert(best.end(), own->runs.begin(), own->runs.end());
    double given = first ? first->rate : 0;
    report.row({counts[c], chosen.batch * counts[c], own->rate, 100 * own->accuracy(),
                seeds > 1 ? Json(100 * own->spread()) : Json(nullptr),
                given * training::rateFactor(training::RateRule::linear, counts[c]),
                given * training::rateFactor(training::RateRule::sqrt, counts[c])});
  }
  report.verdict("runs of a batch begin alike, whatever the rate and the runs before",
                 isSameStart ? "the first losses have the same bits" : "first losses differ", isSameStart);
  judgeLearning(best);
  judgeRates(curves, report);
  compareWithOne(ranks, chosen.batch * ranks);
}

void Sweep::evaluations() {
  int mostRanks = options.ranks ? options.ranks : 4;
  report.table("evaluation", {"ranks", "counted", "right", "accuracy %", "loss", "s"});
  planned = 1;
  int trainedBy = std::min(mostRanks, 2);
  if (!run({trainedBy, chosen.batch * trainedBy, rate()}).outcome)
    runtimeError("bench sweep evaluation: " + runs.front().failure);
  std::vector<data::Array> state = training.lastState();
  std::optional<training::Evaluation> one;
  bool isEachOnce = true, isSame = true, isClose = true;
  int64_t samples = training.images().test.count();
  // Each sample's loss has the same bits wherever it is computed; ranks add them up in another order.
  double most = rounding(samples, 1);
  for (int ranks = 1; ranks <= mostRanks; ++ranks) {
    inform("evaluation on " + std::to_string(ranks) + (ranks == 1 ? " rank" : " ranks"));
    // A batch that leaves a rest, which ranks share unevenly.
    training.evaluate(ranks, chosen.batch + 1, state);
    auto start = std::chrono::steady_clock::now();
    training::Evaluation found = training.evaluate(ranks, chosen.batch + 1, state);
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (!one) one = found;
    isEachOnce &= found.samples == samples && found.counted == samples;
    isSame &= found.correct == one->correct;
    isClose &= std::abs(found.loss - one->loss) <= most * one->loss;
    report.row({ranks, found.counted, found.correct, 100 * *found.accuracy, found.loss, seconds});
  }
  std::string counts = "on 1 to " + std::to_string(mostRanks) + " ranks";
  report.verdict("every sample counts once",
                 std::to_string(samples) + " samples in batches of " + std::to_string(chosen.batch + 1) + " " + counts,
                 isEachOnce);
  report.verdict("as many are right on every number of ranks", std::to_string(one->correct) + " " + counts, isSame);
  report.verdict("losses are the same within rounding", "to " + formatDouble(most, 2) + " of their size " + counts,
                 isClose);
}

void Sweep::finish() {
  const ImageSets &images = training.images();
  if (!runs.empty()) {
    bool areReplicas = true, isWhole = true, isEvaluated = true;
    for (const SweptRun &each : runs) {
      areReplicas &= each.areReplicas;
      if (!each.outcome) continue;
      isWhole &= each.outcome->steps == chosen.epochs * each.stepsOfEpoch &&
                 each.stepsOfEpoch == (images.train.count() + each.point.batch - 1) / each.point.batch;
      isEvaluated &= each.outcome->evaluation->counted == images.test.count();
    }
    std::string count = std::to_string(runs.size()) + " runs";
    report.verdict("all ranks end with the same bits", count, areReplicas);
    report.verdict("every epoch has all samples, smaller last batches too", count, isWhole);
    report.verdict("every evaluation counts each sample once",
                   std::to_string(images.test.count()) + " samples, " + count, isEvaluated);
  }
  std::string width = chosen.width ? ", " + std::to_string(chosen.width) + " channels at first" : "";
  report.note(std::string(chosen.name) + width + ", " + std::to_string(training.parameters()) + " trained numbers; " +
              std::to_string(images.train.count()) + " " + images.origin + ", " + std::to_string(images.test.count()) +
              " to evaluate" + (runs.empty() ? "" : "; " + std::to_string(chosen.epochs) + " epochs of SGD"));
  report.note("ranks are threads on " + std::to_string(std::thread::hardware_concurrency()) +
              " cores; seconds are of steps alone, without evaluations");
}

void Sweep::draw(SweptOver over) const {
  if (flags.plot.empty()) return;
  const ImageSets &images = training.images();
  data::writeFile(flags.plot, drawSweep(std::string(chosen.name) + ", " + std::to_string(training.parameters()) +
                                            " trained numbers",
                                        std::to_string(images.train.count()) + " " + images.origin + ", " +
                                            std::to_string(chosen.epochs) + " epochs of SGD",
                                        over, runs));
  inform("'" + flags.plot + "' has the curves");
}

} // namespace

void benchSweep(const ExperimentOptions &options, ExperimentReport &report) {
  struct {
    const char *name;
    void (Sweep::*part)();
    std::optional<SweptOver> drawn;
  } parts[] = {{"ranks", &Sweep::overRanks, SweptOver::ranks},
               {"batches", &Sweep::overBatches, SweptOver::batches},
               {"rates", &Sweep::overRates, SweptOver::rates},
               {"evaluation", &Sweep::evaluations, std::nullopt}};
  auto part = std::find_if(std::begin(parts), std::end(parts), [&](auto &each) { return options.of == each.name; });
  if (part == std::end(parts))
    badUse("bench sweep: of what? expected ranks, batches, rates or evaluation" +
           (options.of.empty() ? "" : ", found '" + options.of + "'"));
  if (!options.sweep.plot.empty()) {
    if (!part->drawn) badUse("--plot: goes with bench sweep ranks, batches and rates");
    data::checkWritable(options.sweep.plot);
  }
  if (options.sweep.seeds && part->part != &Sweep::overRates) badUse("--seeds: goes with bench sweep rates");
  Sweep sweep(options, report);
  (sweep.*part->part)();
  sweep.finish();
  if (part->drawn) sweep.draw(*part->drawn);
}

} // namespace sprig::cli
