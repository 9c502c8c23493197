// sprig bench buckets: gradients in buckets of several sizes, of two networks on four cards that meet over PCIe.
#include "lib/Machine/TopologyPresets.h"
#include "tools/sprig/bench/Experiment.h"
#include "tools/sprig/bench/Networks.h"
#include "tools/sprig/simulate/SimulatedRanks.h"
#include <algorithm>

namespace sprig::cli {
namespace {

constexpr int kBucketCards = 4;
constexpr const char *kBucketMachine = "pcie3";
constexpr int64_t kBucketBatch = 128, kMB = 1 << 20;

struct Size {
  const char *name;
  int64_t bytes;
};
constexpr Size kSizes[] = {{"1", kMB},       {"10", 10 * kMB},   {"25", 25 * kMB},
                           {"50", 50 * kMB}, {"100", 100 * kMB}, {"unlimited", INT64_MAX}};

double exposedNs(const PlayedRanks &point) {
  double most = 0;
  for (const machine::RankTimes &rank : point.times.ranks) most = std::max(most, rank.exposed);
  return most;
}

// `isLarge`: its gradients are many times a bucket.
void tryAll(const TrainedNetwork &network, bool isLarge, const ExperimentOptions &options, ExperimentReport &report) {
  machine::Topology topology = *machine::topologyPreset(kBucketMachine);
  auto play = [&](int64_t bytes) {
    RankSettings settings;
    settings.ranks = {kBucketCards};
    settings.scaling = Scaling::weak;
    settings.bucketBytes = bytes;
    return RankedSteps(network.model, network.config, options.settings, settings).play(topology, kBucketCards);
  };
  report.table(network.model.path, {"bucket MB", "sums", "step ms", "communicates ms", "exposed ms", "efficiency %"});
  std::vector<double> steps;
  auto row = [&](const char *name, int64_t bytes) {
    PlayedRanks point = play(bytes);
    steps.push_back(point.ns);
    report.row({name, point.meetings, point.ns / 1e6, point.times.ranks[0].communicating / 1e6, exposedNs(point) / 1e6,
                100 * point.efficiency});
  };
  for (const Size &size : kSizes) row(size.name, size.bytes);
  row("auto", 0);
  double chosen = steps.back();
  steps.pop_back();
  auto best = std::min_element(steps.begin(), steps.end());
  double middle = *std::min_element(steps.begin() + 1, steps.end() - 1);
  std::string figures = std::string(kSizes[best - steps.begin()].name) + " MB is the best, " +
                        formatDouble(steps.back() / middle, 4) + " and " + formatDouble(steps.front() / middle, 4) +
                        " times the time of the best between";
  if (isLarge)
    report.verdict("buckets of 10 to 100 MB beat one of all, and are no worse than 1 MB: " + network.model.path,
                   figures, middle < steps.back() && middle <= steps.front());
  else
    report.verdict("some buckets beat one of all: " + network.model.path, figures, *best < steps.back());
  report.verdict("what is chosen by cost is within 5 % of the best: " + network.model.path,
                 formatDouble(chosen / *best, 4) + " times", chosen <= 1.05 * *best);
}

} // namespace

void benchBuckets(const ExperimentOptions &options, ExperimentReport &report) {
  int64_t batch = options.n ? options.n : kBucketBatch;
  tryAll(resNet18({batch}), false, options, report);
  tryAll(alexNet(batch), true, options, report);
  report.note(std::to_string(kBucketCards) + " cards of " + kBucketMachine + ", " + std::to_string(batch) +
              " samples each");
}

} // namespace sprig::cli
