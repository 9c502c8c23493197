// sprig bench allreduce: all-reduces between threads of this process by each algorithm, over sizes; with --topology the
// same programs on its devices, played.
#include "lib/Data/Largest.h"
#include "lib/Machine/AllReduceTime.h"
#include "lib/Machine/Clusters.h"
#include "lib/Machine/Collectives.h"
#include "lib/Machine/MachineModel.h"
#include "runtime/comm/Communicator.h"
#include "runtime/comm/ThreadRanks.h"
#include "tools/sprig/bench/Experiment.h"
#include "tools/sprig/simulate/GivenTopology.h"
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <thread>

namespace sprig::cli {
namespace {

using rt::collective::Algorithm;
using rt::collective::Kind;
using rt::collective::Plan;
using rt::comm::Buffers;
using rt::comm::Communicator;
using rt::comm::Status;
using rt::comm::ThreadRanks;

constexpr Algorithm kOfThreads[] = {Algorithm::star, Algorithm::split, Algorithm::tree, Algorithm::ring,
                                    Algorithm::bidirectional};
constexpr int kRoundsHere = 5, kMostThreads = 256;

struct Timed {
  double ns = 0;            // of a call, of the best of some rounds
  bool areBitsAlike = true; // of all ranks
  double error = 0;         // the largest, in units of what rounding may do
};

float startOf(int rank, size_t i) { return float((i + size_t(rank) * 7) % 13) / float(rank + 3); }

// Calls in a row, each on the means of the one before, so all ranks are at the same one but for a message; the best of
// some rounds, each of which begins with the same numbers.
Timed timeThreads(int ranks, Algorithm algorithm, int64_t bytes) {
  int64_t elements = bytes / 4;
  int calls = int(std::clamp<int64_t>(4000000 / (bytes + 1000), 3, 300));
  ThreadRanks group({.ranks = ranks});
  std::vector<std::vector<float>> buffers(static_cast<size_t>(ranks));
  Timed timed;
  timed.ns = 1e300;
  auto body = [&](rt::comm::Transport &transport) -> Status {
    Communicator communicator(transport);
    int rank = transport.rank();
    std::vector<float> &numbers = buffers[size_t(rank)];
    numbers.assign(size_t(elements), 0.f);
    Buffers::Buffer buffer{numbers.data(), elements};
    auto barrier = [&] { return communicator.run({Kind::barrier, Algorithm::tree}, {}); };
    for (int round = 0; round < kRoundsHere; ++round) {
      for (size_t i = 0; i < numbers.size(); ++i) numbers[i] = startOf(rank, i);
      SPRIG_RETURN_IF_ERROR(barrier());
      auto begin = std::chrono::steady_clock::now();
      for (int call = 0; call < calls; ++call)
        SPRIG_RETURN_IF_ERROR(
            communicator.run({Kind::allReduce, algorithm, rt::comm::Reduction::mean}, {{&buffer, 1}}));
      SPRIG_RETURN_IF_ERROR(barrier());
      if (rank == 0) {
        std::chrono::duration<double, std::nano> taken = std::chrono::steady_clock::now() - begin;
        timed.ns = std::min(timed.ns, taken.count() / calls);
      }
    }
    return {};
  };
  std::vector<Status> ended = group.run(body);
  // Of several the first: others follow from it.
  if (int first = group.failedRank(); first >= 0)
    runtimeError("bench allreduce: " + std::string(ended[size_t(first)].message()));
  for (const std::vector<float> &numbers : buffers)
    timed.areBitsAlike &= std::memcmp(numbers.data(), buffers[0].data(), numbers.size() * 4) == 0;
  // Numbers are not negative, so a call has a rounding of each sum, and those of the division.
  for (size_t i = 0; i < buffers[0].size(); ++i) {
    double mean = 0;
    for (int rank = 0; rank < ranks; ++rank) mean += double(startOf(rank, i)) / ranks;
    timed.error =
        data::largest(timed.error, std::abs(buffers[0][i] - mean) / (mean * calls * (ranks + 1) * 0x1p-24 + 1e-30));
  }
  return timed;
}

std::vector<Algorithm> algorithmsFor(const ExperimentOptions &options, std::span<const Algorithm> all) {
  if (options.algorithms.empty()) return {all.begin(), all.end()};
  std::vector<Algorithm> chosen;
  for (const std::string &name : options.algorithms) {
    Algorithm algorithm;
    if (!rt::collective::findAlgorithm(name, algorithm) || std::find(all.begin(), all.end(), algorithm) == all.end()) {
      std::string names;
      for (Algorithm known : all) names += (names.empty() ? "" : ", ") + std::string(nameOf(known));
      badUse("--algo: expected some of " + names + ", found '" + name + "'");
    }
    if (std::find(chosen.begin(), chosen.end(), algorithm) != chosen.end())
      badUse("--algo: '" + name + "' is there twice");
    chosen.push_back(algorithm);
  }
  return chosen;
}

// Of one algorithm, by size.
struct TimeCurve {
  std::vector<double> bytes, ns;
};

// Where the second is the quicker one from then on, on straight lines between sizes in logarithms; nothing: nowhere.
std::optional<double> crossingOf(const TimeCurve &first, const TimeCurve &second) {
  size_t from = first.ns.size();
  while (from > 0 && second.ns[from - 1] < first.ns[from - 1]) --from;
  if (from == first.ns.size()) return std::nullopt;
  if (from == 0) return 0;
  auto ahead = [&](size_t i) { return std::log(second.ns[i] / first.ns[i]); };
  double share = ahead(from - 1) / (ahead(from - 1) - ahead(from));
  return first.bytes[from - 1] * std::pow(first.bytes[from] / first.bytes[from - 1], share);
}

std::string fromText(std::optional<double> bytes) {
  if (!bytes) return "nowhere";
  return *bytes > 0 ? "from " + formatBinaryBytes(*bytes) + " on" : "everywhere";
}

// Tree against ring: measured, by the line that fits what was measured, and where the fixed table changes.
void tellCrossover(const TimeCurve &tree, const TimeCurve &ring, int ranks, ExperimentReport &report) {
  std::vector<machine::MeasuredSteps> measured;
  for (auto [curve, algorithm] : {std::pair(&tree, Algorithm::tree), {&ring, Algorithm::ring}})
    for (size_t i = 0; i < curve->ns.size(); ++i) {
      measured.push_back(machine::stepsOf(Kind::allReduce, algorithm, ranks, curve->bytes[i]));
      measured.back().seconds = curve->ns[i] / 1e9;
    }
  machine::RankLink fitted{machine::linkFrom(measured), 0};
  std::string line;
  if (fitted.message.bytesPerSecond > 0)
    line = "; a message of " + formatNanoseconds(fitted.message.latency * 1e9) + " and " +
           formatDouble(fitted.message.bytesPerSecond / 1e9, 3) + " GB/s, which fits the figures best, gives " +
           fromText(machine::ringBeatsTreeFrom(fitted, ranks));
  report.note("the ring is quicker than the tree " + fromText(crossingOf(tree, ring)) + line +
              "; the fixed table takes it from " + formatBinaryBytes(double(machine::tableGivesTreeUpTo(ranks))) +
              " on, so that bits do not depend on the machine");
}

void measureHere(const ExperimentOptions &options, ExperimentReport &report) {
  int ranks = options.ranks ? options.ranks : 2;
  if (ranks > kMostThreads)
    badUse("--ranks: expected 2 to " + std::to_string(kMostThreads) + " threads, found " + std::to_string(ranks));
  std::vector<Algorithm> algorithms = algorithmsFor(options, kOfThreads);
  std::vector<std::string> header = {"bytes"};
  for (Algorithm algorithm : algorithms) header.push_back("us, " + std::string(nameOf(algorithm)));
  header.insert(header.end(), {"fastest", "automatic", "GB/s of the fastest"});
  report.table("allreduce", header);
  bool areBitsAlike = true;
  double error = 0;
  int64_t most = options.n ? options.n : 16 << 20;
  std::vector<int64_t> sizes;
  most = most / 4 * 4;
  for (int64_t bytes = 4; bytes < most; bytes *= 8) sizes.push_back(bytes);
  sizes.push_back(most);
  std::map<Algorithm, TimeCurve> curves;
  for (int64_t bytes : sizes) {
    std::vector<Json> cells = {bytes};
    double least = 1e300;
    Algorithm fastest = algorithms[0];
    for (Algorithm algorithm : algorithms) {
      Timed timed = timeThreads(ranks, algorithm, bytes);
      areBitsAlike &= timed.areBitsAlike;
      error = data::largest(error, timed.error);
      cells.push_back(timed.ns / 1e3);
      curves[algorithm].bytes.push_back(double(bytes));
      curves[algorithm].ns.push_back(timed.ns);
      if (timed.ns < least) least = timed.ns, fastest = algorithm;
    }
    cells.insert(cells.end(), {std::string(nameOf(fastest)),
                               std::string(nameOf(rt::collective::chooseAlgorithm(Kind::allReduce, ranks, bytes))),
                               double(bytes) / least});
    report.row(cells);
  }
  report.verdict("all ranks get the same bits", areBitsAlike ? "by every algorithm" : "not by all", areBitsAlike);
  report.verdict("they are the mean of the ranks'", formatDouble(error, 3) + " of the bound on rounding", error <= 1);
  if (curves.count(Algorithm::tree) && curves.count(Algorithm::ring))
    tellCrossover(curves[Algorithm::tree], curves[Algorithm::ring], ranks, report);
  report.note(std::to_string(ranks) + " threads of this process are the ranks, on " +
              std::to_string(std::thread::hardware_concurrency()) + " cores");
}

std::vector<uint32_t> ranksOf(const machine::Topology &topology, int wanted) {
  std::vector<uint32_t> nodes = machine::nodesForRanks(topology);
  if (nodes.size() < 2) unsupported("bench allreduce: " + topology.name + " has one device, expected two or more");
  if (wanted > int(nodes.size()))
    unsupported("--ranks: " + topology.name + " has " + std::to_string(nodes.size()) + " devices, found " +
                std::to_string(wanted));
  if (wanted) nodes.resize(size_t(wanted));
  return nodes;
}

void simulateMachines(const ExperimentOptions &options, ExperimentReport &report) {
  machine::Topology topology = readTopology(options.settings.topology);
  std::vector<uint32_t> nodes = ranksOf(topology, options.ranks);
  int ranks = int(nodes.size());
  int64_t bytes = options.n ? options.n : 100000000;
  std::vector<std::vector<int>> rings = machine::disjointRings(topology, nodes, 4);
  std::vector<Algorithm> known(std::begin(kOfThreads), std::end(kOfThreads));
  if (rings.size() > 1) known.push_back(Algorithm::rings);
  auto played = [&](const std::vector<rt::collective::Program> &programs, std::span<const uint32_t> places) {
    return machine::playCollective(topology, programs, places, bytes);
  };
  report.table("simulated", {"algorithm", "ms", "GB/s", "most on a link, MB"});
  double least = 1e300, longest = 0;
  auto row = [&](const std::string &name, const machine::Simulation &simulation) {
    double most = 0;
    for (const machine::LinkUse &use : simulation.links) most = std::max(most, use.bytes);
    report.row({name, simulation.ns / 1e6, double(bytes) / simulation.ns, most / 1e6});
    least = std::min(least, simulation.ns);
    longest = std::max(longest, simulation.ns);
  };
  for (Algorithm algorithm : algorithmsFor(options, known)) {
    Plan plan{Kind::allReduce, algorithm, ranks};
    if (algorithm == Algorithm::rings) plan.rings = rings;
    std::string name(nameOf(algorithm));
    row(algorithm == Algorithm::rings ? std::to_string(rings.size()) + " rings" : name,
        played(machine::programsOf(plan), nodes));
  }
  // A host that is no rank may add up for all.
  bool isHostApart = topology.inputs >= 0 &&
                     topology.nodes[size_t(topology.inputs)].kind == machine::NodeKind::device &&
                     std::find(nodes.begin(), nodes.end(), uint32_t(topology.inputs)) == nodes.end();
  if (options.algorithms.empty() && isHostApart) {
    std::vector<uint32_t> places = {uint32_t(topology.inputs)};
    places.insert(places.end(), nodes.begin(), nodes.end());
    row("by " + topology.nodes[places[0]].name, played(machine::throughHelper(ranks), places));
  }
  report.note(std::to_string(ranks) + " ranks of " + topology.name + ", " + std::to_string(bytes) +
              " bytes; the longest takes " + formatDouble(longest / least, 3) + " times the shortest");
}

} // namespace

void benchAllReduce(const ExperimentOptions &options, ExperimentReport &report) {
  if (options.settings.topology.empty())
    measureHere(options, report);
  else
    simulateMachines(options, report);
}

} // namespace sprig::cli
