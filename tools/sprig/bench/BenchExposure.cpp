// sprig bench exposure: gradients that travel beside the backward pass, and in their place in it: what a step takes,
// how much of the communication nothing hides, who waits, and what it costs in memory.
#include "lib/Machine/TopologyPresets.h"
#include "tools/sprig/bench/Experiment.h"
#include "tools/sprig/bench/Networks.h"
#include "tools/sprig/bench/RandomData.h"
#include "tools/sprig/profile/ProfileRanks.h"
#include "tools/sprig/simulate/SimulatedRanks.h"
#include "tools/sprig/train/TrainRunners.h"
#include "lib/Training/ReadTrainConfig.h"
#include <algorithm>
#include <numeric>
#include <thread>

namespace sprig::cli {
namespace {

constexpr const char *kMachineThere = "pcie3";
constexpr int kCardsThere = 4, kThreads = 2;
constexpr int64_t kBatchThere = 32, kBatchHere = 64;
constexpr int kStepsHere = 3, kCallsHere = 20;
constexpr int64_t kBucketHere = 128 << 10; // the same either way
// Between the threads; so slow that programs whose collectives may travel beside the rest have a lane for them.
constexpr double kAssumedLatency = 50e-6, kAssumedRate = 1e9;

enum class Way { inPlace, beside };
constexpr Way kWays[] = {Way::inPlace, Way::beside};
const char *nameOfStep(Way way) { return way == Way::beside ? "beside" : "in place"; }

machine::RankTimes worst(const machine::RanksTime &times) {
  machine::RankTimes most;
  for (const machine::RankTimes &rank : times.ranks) {
    most.communicating = std::max(most.communicating, rank.communicating);
    most.exposed = std::max(most.exposed, rank.exposed);
    most.waiting = std::max(most.waiting, rank.waiting);
    most.idle = std::max(most.idle, rank.idle);
  }
  return most;
}

PlayedRanks play(RankedSteps &steps, int ranks) { return steps.play(*machine::topologyPreset(kMachineThere), ranks); }

RankSettings settingsOf(Way way, Scaling scaling, int ranks) {
  RankSettings settings;
  settings.ranks = {ranks};
  settings.scaling = scaling;
  settings.isBeside = way == Way::beside;
  return settings;
}

// Ranks with equal shares on cards, each way.
void simulateEven(const ExperimentOptions &options, int ranks, ExperimentReport &report) {
  TrainedNetwork network = resNet18(batchesOf(kBatchThere, {ranks}));
  report.table("simulated on " + std::string(kMachineThere),
               {"gradients travel", "sums", "step ms", "communicates ms", "exposed ms", "efficiency %"});
  std::vector<machine::RankTimes> times;
  std::vector<double> steps;
  for (Way way : kWays) {
    RankedSteps ranked(network.model, network.config, options.settings, settingsOf(way, Scaling::weak, ranks));
    PlayedRanks point = play(ranked, ranks);
    times.push_back(worst(point.times));
    steps.push_back(point.ns);
    report.row({nameOfStep(way), point.meetings, point.ns / 1e6, times.back().communicating / 1e6,
                times.back().exposed / 1e6, 100 * point.efficiency});
  }
  auto ms = [](double ns) { return formatDouble(ns / 1e6, 4) + " ms"; };
  report.verdict("in place nothing is hidden", ms(times[0].exposed) + " of " + ms(times[0].communicating),
                 times[0].exposed >= (1 - 1e-9) * times[0].communicating);
  report.verdict("beside the backward pass less is exposed",
                 ms(times[1].exposed) + ", in place " + ms(times[0].exposed), times[1].exposed < times[0].exposed);
  report.verdict("and the step is shorter", ms(steps[1]) + ", in place " + ms(steps[0]), steps[1] < steps[0]);
}

// Shares that differ, rank by rank: who has less waits for who has more.
void simulateUneven(const ExperimentOptions &options, int ranks, ExperimentReport &report) {
  int64_t batch = 2 * ranks + 1;
  TrainedNetwork network = resNet18({batch});
  report.table("a batch of " + std::to_string(batch),
               {"gradients travel", "rank", "computes ms", "communicates ms", "exposed ms", "waits ms", "idle ms"});
  bool isWaitedFor = true;
  double most = 0, largestShares = 0; // of waits, and of the rank with the largest share
  for (Way way : kWays) {
    RankedSteps ranked(network.model, network.config, options.settings, settingsOf(way, Scaling::strong, ranks));
    PlayedRanks point = play(ranked, ranks);
    for (size_t rank = 0; rank < point.times.ranks.size(); ++rank) {
      const machine::RankTimes &own = point.times.ranks[rank];
      report.row({nameOfStep(way), rank, own.computing / 1e6, own.communicating / 1e6, own.exposed / 1e6,
                  own.waiting / 1e6, own.idle / 1e6});
      isWaitedFor &= own.waiting >= point.times.ranks[0].waiting;
      most = std::max(most, own.waiting);
    }
    largestShares = std::max(largestShares, point.times.ranks[0].waiting);
  }
  report.verdict("who has the largest share waits the least, and others for it",
                 std::to_string(ranks) + " ranks, either way: " + formatDouble(largestShares / 1e6, 3) +
                     " ms, others " + formatDouble(most / 1e6, 3) + " at most",
                 isWaitedFor && most > largestShares);
}

LoadedTraining loadSteps(const TrainedNetwork &network, const Settings &settings, int ranks, Way way) {
  TrainRequest request;
  request.config = network.config;
  request.config.batch = kBatchHere;
  training::resolve(request.config, kBatchHere);
  request.steps = {kBatchHere};
  request.samples = kBatchHere;
  request.withNorm = false;
  request.ranks = ranks;
  request.bucketBytes = kBucketHere;
  request.link = RankLink{kAssumedLatency, kAssumedRate, way == Way::beside, "assumed"};
  return loadTraining(network.model, request, ranks, settings, {1, ""});
}

std::vector<char> bitsAfter(std::vector<Runner> runners, const TrainedNetwork &network, const TrainData &data) {
  joinAsThreads(runners);
  auto count = int(runners.size());
  TrainRanks ranks(std::move(runners), RankShare{0, count, kBatchHere});
  ranks.restore(randomState(ranks.state().arrays, *network.config.trainable, 1));
  ranks.start(network.config.optimizer.lr, 1);
  std::vector<int64_t> all(static_cast<size_t>(kBatchHere));
  std::iota(all.begin(), all.end(), 0);
  for (int step = 0; step < kStepsHere; ++step) ranks.step(data, all);
  std::vector<char> bits;
  WholeState state = ranks.state();
  for (const checkpoints::ArrayView &view : state.arrays) bits.insert(bits.end(), view.bytes.begin(), view.bytes.end());
  return bits;
}

// The same two programs on threads of this machine.
void measureExposure(const ExperimentOptions &options, ExperimentReport &report) {
  TrainedNetwork network = leNet({kBatchHere});
  RankPlace place{.ranks = kThreads, .here = kThreads};
  Settings own = settingsOfRank(options.settings, place);
  own.threads = 1;
  TrainData data = generatedImages(kBatchHere, 1, 1).train;
  report.table("threads of this machine", {"gradients travel", "lanes", "step us", "communicates us", "exposed us",
                                           "waits us", "idle us", "arena, bytes", "on their way, bytes"});
  std::vector<std::vector<char>> bits;
  for (Way way : kWays) {
    LoadedTraining loaded = loadSteps(network, own, kThreads, way);
    std::vector<Runner> others;
    for (const Runner &runner : loaded.runners) others.push_back(runner.another({1, ""}));
    bits.push_back(bitsAfter(std::move(others), network, data));
    sprig_rt_entry_info info = loaded.runners.front().entryInfo(0);
    RanksProfile profile = profileRanks({std::move(loaded.runners), place, "train_step", 1, kCallsHere, 1}, own);
    machine::RankTimes most = worst(profile.times);
    auto us = [&](double ns) { return ns / 1e3 / double(profile.calls); };
    report.row({nameOfStep(way), info.lane_count, *std::max_element(profile.stepNs.begin(), profile.stepNs.end()) / 1e3,
                us(most.communicating), us(most.exposed), us(most.waiting), us(most.idle), info.arena_bytes,
                profile.inFlightBytes});
  }
  report.verdict("either way gives the same bits", std::to_string(kStepsHere) + " steps of LeNet", bits[0] == bits[1]);
}

} // namespace

void benchExposure(const ExperimentOptions &options, ExperimentReport &report) {
  int ranks = options.ranks ? options.ranks : kCardsThere;
  simulateEven(options, ranks, report);
  simulateUneven(options, ranks, report);
  measureExposure(options, report);
  report.note("ResNet-18 on " + std::to_string(ranks) + " cards of " + kMachineThere + ", " +
              std::to_string(kBatchThere) + " samples each; LeNet on " + std::to_string(kThreads) + " threads with " +
              std::to_string(kBatchHere / kThreads) + " each and buckets of " + formatBinaryBytes(kBucketHere) +
              ", on " + std::to_string(std::thread::hardware_concurrency()) + " cores");
}

} // namespace sprig::cli
