// sprig bench buckets: gradients in buckets of several sizes, of two networks on four cards that meet over PCIe.
#include "lib/Machine/AllReduceTime.h"
#include "lib/Machine/Clusters.h"
#include "lib/Machine/Collectives.h"
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

// Sums of a rank's step: what they carry, and the largest.
struct Carried {
  int64_t bytes = 0;
  machine::Meeting largest;
};

Carried carriedBy(const PlayedRanks &point) {
  Carried carried;
  for (const auto &lane : point.steps.front()->step.lanes)
    for (const machine::RankStep::Command &command : lane)
      for (const machine::Meeting &meeting : command.meetings) {
        carried.bytes += meeting.bytes;
        if (meeting.bytes > carried.largest.bytes) carried.largest = meeting;
      }
  return carried;
}

void tryAll(const TrainedNetwork &network, const ExperimentOptions &options, ExperimentReport &report) {
  machine::Topology topology = *machine::topologyPreset(kBucketMachine);
  report.table(network.model.path,
               {"bucket MB", "sums", "largest MB", "step ms", "communicates ms", "exposed ms", "efficiency %"});
  std::vector<double> steps;
  Carried first; // in the smallest buckets
  bool isSame = true, isWithin = true;
  double exposed = 0, alone = 0; // of all gradients in one sum
  auto play = [&](const char *name, int64_t bytes) {
    RankSettings settings;
    settings.ranks = {kBucketCards};
    settings.scaling = Scaling::weak;
    settings.bucketBytes = bytes;
    RankedSteps ranked(network.model, network.config, options.settings, settings);
    PlayedRanks point = ranked.play(topology, kBucketCards);
    Carried carried = carriedBy(point);
    if (steps.empty()) first = carried;
    isSame &= carried.bytes == first.bytes;
    // A gradient that is larger than a bucket has one of its own.
    if (bytes) isWithin &= carried.largest.bytes <= std::max(bytes, first.largest.bytes);
    if (bytes == INT64_MAX) {
      exposed = exposedNs(point);
      alone = machine::playCollective(
                  point.cluster.topology,
                  machine::programsOf({carried.largest.kind, carried.largest.algorithm, point.cluster.ranks()}),
                  point.cluster.nodes, carried.largest.bytes)
                  .ns;
    }
    steps.push_back(point.ns);
    report.row({name, point.meetings, double(carried.largest.bytes) / kMB, point.ns / 1e6,
                point.times.ranks[0].communicating / 1e6, exposedNs(point) / 1e6, 100 * point.efficiency});
  };
  for (const Size &size : kSizes) play(size.name, size.bytes);
  play("auto", 0);
  double chosen = steps.back();
  steps.pop_back();
  auto best = std::min_element(steps.begin(), steps.end());
  auto ms = [](double ns) { return formatDouble(ns / 1e6, 4) + " ms"; };
  std::string of = ": " + network.model.path;
  report.verdict("buckets of all sizes carry the same bytes" + of, std::to_string(first.bytes), isSame);
  report.verdict("no bucket is larger than it may be" + of, isWithin ? "none" : "some are", isWithin);
  report.verdict("one sum of all begins behind the backward pass, which hides nothing of it" + of,
                 ms(exposed) + " exposed, alone " + ms(alone), exposed >= 0.99 * alone);
  report.verdict("some buckets beat one of all" + of,
                 std::string(kSizes[best - steps.begin()].name) + " MB is the best: " + ms(*best) + ", one of all " +
                     ms(steps.back()),
                 *best < steps.back());
  report.verdict("what is chosen by cost is within 5 % of the best" + of, formatDouble(chosen / *best, 4) + " times",
                 chosen <= 1.05 * *best);
}

} // namespace

void benchBuckets(const ExperimentOptions &options, ExperimentReport &report) {
  int64_t batch = options.n ? options.n : kBucketBatch;
  std::vector<int64_t> batches = batchesOf(batch, {kBucketCards});
  tryAll(resNet18(batches), options, report);
  tryAll(alexNet(batches), options, report);
  report.note(std::to_string(kBucketCards) + " cards of " + kBucketMachine + ", " + std::to_string(batch) +
              " samples each");
}

} // namespace sprig::cli
