// sprig bench scaling: ResNet-18 on more and more ranks, simulated on cards and measured on threads of this machine.
#include "lib/Machine/TopologyPresets.h"
#include "tools/sprig/bench/Experiment.h"
#include "tools/sprig/bench/Networks.h"
#include "tools/sprig/profile/ProfileEntry.h"
#include "tools/sprig/profile/ProfileRanks.h"
#include "tools/sprig/simulate/GivenTopology.h"
#include "tools/sprig/simulate/SimulatedRanks.h"
#include <algorithm>
#include <chrono>
#include <thread>

namespace sprig::cli {
namespace {

constexpr int64_t kBatch = 256, kBatchOfRank = 8;
constexpr int kMaxRanks = 16, kCallsOfRank = 3;
// Of four cards with links of their own (docs/distributed.md).
constexpr double kLeastOfFour = 0.85;
constexpr const char *kSimulatedCards = "v100-nvlink";

std::vector<PlayedRanks> simulateAll(const ExperimentOptions &options, RankedSteps &steps, ExperimentReport &report) {
  std::string name = options.settings.topology.empty() ? kSimulatedCards : options.settings.topology;
  machine::Topology topology = readTopology(name);
  std::vector<PlayedRanks> points;
  for (int ranks : doubledTo(steps.settings().ranks.back())) points.push_back(steps.play(topology, ranks));
  report.table("simulated", {"ranks", "samples", "step ms", "speed-up", "efficiency %", "exposed communication %"});
  for (const PlayedRanks &point : points)
    report.row({point.ranks, point.samples, point.ns / 1e6, point.speedUp, 100 * point.efficiency,
                100 * point.timeShares.of(point.timeShares.communication)});
  report.note("on " + topology.name + (points.back().cluster.rule.empty() ? "" : ", " + points.back().cluster.rule));
  for (const std::string &line : curveInWords(points)) report.note(line);
  return points;
}

// Seconds of a step on threads, each with the same number of samples: the median of a few.
double measuredNs(const TrainedNetwork &network, const Settings &settings, int ranks) {
  const auto &[model, config] = network;
  RankPlace place{.ranks = ranks, .here = ranks};
  Settings own = settingsOfRank(settings, place);
  own.threads = 1;
  RunnerOptions runner{1, ""};
  if (ranks == 1) {
    Runner one = compileSteps(model, config, {}, own, runner);
    ProfileTarget target = chooseTargets(one, "train_step", own, 1).front();
    PreparedCall call = one.prepare(*target.entry, target.arrays);
    call.invoke();
    std::vector<double> taken;
    for (int i = 0; i < kCallsOfRank; ++i) {
      auto start = std::chrono::steady_clock::now();
      call.invoke();
      taken.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count());
    }
    std::sort(taken.begin(), taken.end());
    return taken[taken.size() / 2];
  }
  std::vector<Runner> runners;
  StepOfRank of;
  of.ranks = ranks;
  of.hasWholeBatch = true;
  runners.push_back(compileSteps(model, config, {}, own, runner, of));
  while (int(runners.size()) < ranks) runners.push_back(runners.front().another(runner));
  RanksProfile profile = profileRanks({std::move(runners), place, "train_step", 1, kCallsOfRank, 1}, own);
  return *std::max_element(profile.stepNs.begin(), profile.stepNs.end());
}

void measureAll(const ExperimentOptions &options, ExperimentReport &report) {
  TrainedNetwork network = resNet18(batchesOf(kBatchOfRank, {2, 4}));
  Settings settings = options.settings;
  settings.topology.clear();
  int cores = int(std::thread::hardware_concurrency());
  report.table("threads of this machine", {"ranks", "samples", "step ms", "speed-up", "efficiency %"});
  double one = 0;
  for (int ranks = 1; ranks <= std::clamp(cores, 1, 4); ranks *= 2) {
    double ns = measuredNs(network, settings, ranks);
    if (ranks == 1) one = ns;
    report.row({ranks, kBatchOfRank * ranks, ns / 1e6, ranks * one / ns, 100 * one / ns});
  }
  report.note("threads have a core each of " + std::to_string(cores) + ", and share caches and memory");
}

} // namespace

void benchScaling(const ExperimentOptions &options, ExperimentReport &report) {
  int64_t batch = options.n ? options.n : kBatch;
  RankSettings settings;
  settings.ranks = {options.ranks ? options.ranks : kMaxRanks};
  settings.scaling = Scaling::weak;
  Settings compiled = options.settings;
  compiled.topology.clear();
  TrainedNetwork network = resNet18(batchesOf(batch, doubledTo(settings.ranks.back())));
  RankedSteps steps(network.model, network.config, compiled, settings);
  std::vector<PlayedRanks> points = simulateAll(options, steps, report);
  auto grows = [](const PlayedRanks &a, const PlayedRanks &b) { return a.speedUp < b.speedUp; };
  bool isSound = std::all_of(points.begin(), points.end(), [](auto &point) { return point.efficiency <= 1 + 1e-9; });
  report.verdict("no number of ranks is more than ideal", isSound ? "all within" : "some are", isSound);
  bool isAsked = options.settings.topology.empty();
  if (isAsked || options.settings.topology == kSimulatedCards) {
    auto four = std::find_if(points.begin(), points.end(), [](auto &point) { return point.ranks == 4; });
    if (four != points.end())
      report.verdict("4 cards reach 85 % of four times one",
                     formatDouble(100 * four->efficiency, 3) + " % with " + std::to_string(batch) + " samples each",
                     four->efficiency >= kLeastOfFour);
    auto board = std::find_if(points.begin(), points.end(), [](auto &point) { return point.ranks > 8; });
    report.verdict("more cards of a machine are faster", std::to_string(board - points.begin()) + " numbers of ranks",
                   std::is_sorted(points.begin(), board, grows));
  }
  // A machine that is asked for is not this one.
  if (isAsked) measureAll(options, report);
}

} // namespace sprig::cli
