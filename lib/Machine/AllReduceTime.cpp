#include "lib/Machine/AllReduceTime.h"
#include "lib/Machine/Collectives.h"
#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <string>

namespace sprig::machine {

using rt::collective::Algorithm;
using rt::collective::Kind;

namespace {

// Measured between two processes on two cores, over the loopback: a few bytes take 0.09 ms for the tree's two messages,
// 64 MiB take the ring 46 ms.
constexpr Link kLoopback = {45e-6, 1.5e9};

bool isHalf(Kind kind) { return kind == Kind::reduceScatter || kind == Kind::allGather; }

double roundsOf(int ranks) { return double(std::bit_width(unsigned(ranks - 1))); }

// Bytes that one rank adds up, one step after the other.
double addedBytes(Algorithm algorithm, int ranks, double bytes) {
  switch (algorithm) {
  case Algorithm::star: return (ranks - 1) * bytes;
  case Algorithm::tree: return roundsOf(ranks) * bytes;
  case Algorithm::split:
  case Algorithm::ring:
  case Algorithm::bidirectional:
  case Algorithm::rings:
  case Algorithm::hierarchy: break;
  }
  return (ranks - 1) * (bytes / ranks);
}

} // namespace

MeasuredSteps stepsOf(Kind kind, Algorithm algorithm, int ranks, double bytes) {
  double others = ranks - 1;
  if (isHalf(kind)) return {others, others * (bytes / ranks)};
  switch (algorithm) {
  case Algorithm::star: return {1 + others, 2 * others * bytes}; // all come at once, sums go one after the other
  case Algorithm::tree: return {2 * roundsOf(ranks), 2 * roundsOf(ranks) * bytes};
  case Algorithm::split:
  case Algorithm::ring:
  case Algorithm::bidirectional:
  case Algorithm::rings:
  case Algorithm::hierarchy: break;
  }
  return {2 * others, 2 * others * (bytes / ranks)};
}

double allReduceSeconds(const RankLink &link, Algorithm algorithm, int ranks, double bytes) {
  if (ranks < 2) return 0;
  MeasuredSteps steps = stepsOf(Kind::allReduce, algorithm, ranks, bytes);
  double adding = link.addBytesPerSecond > 0 ? addedBytes(algorithm, ranks, bytes) / link.addBytesPerSecond : 0;
  return steps.steps * link.message.latency + steps.bytes / link.message.bytesPerSecond + adding;
}

// The latency is of the tree's messages; the ring's half has ranks - 1 of them.
double collectiveSeconds(const AllReduceRate &rate, Kind kind, int ranks, double bytes) {
  if (ranks < 2) return 0;
  if (!isHalf(kind)) return rate.latency + bytes / rate.bytesPerSecond;
  return rate.latency * double(ranks - 1) / (2 * roundsOf(ranks)) + bytes / (2 * rate.bytesPerSecond);
}

double allReduceSeconds(const RankLink &link, int ranks, double bytes) {
  return allReduceSeconds(link, rt::collective::chooseAlgorithm(Kind::allReduce, ranks, int64_t(bytes)), ranks, bytes);
}

// Both are straight lines over the bytes.
double ringBeatsTreeFrom(const RankLink &link, int ranks) {
  double tree = allReduceSeconds(link, Algorithm::tree, ranks, 0),
         ring = allReduceSeconds(link, Algorithm::ring, ranks, 0);
  double treeMore = allReduceSeconds(link, Algorithm::tree, ranks, 1) - tree,
         ringMore = allReduceSeconds(link, Algorithm::ring, ranks, 1) - ring;
  return treeMore > ringMore ? std::max(0.0, (ring - tree) / (treeMore - ringMore)) : 0;
}

int64_t tableGivesTreeUpTo(int ranks) {
  auto isTree = [&](int64_t bytes) {
    return rt::collective::chooseAlgorithm(Kind::allReduce, ranks, bytes) == Algorithm::tree;
  };
  if (!isTree(0)) return 0;
  int64_t low = 0, high = int64_t(1) << 40;
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    (isTree(middle) ? low : high) = middle;
  }
  return low;
}

// What is read from another core is added up as it comes.
RankLink betweenThreads(const MachineModel &model) { return {{model.handOff, model.crossCore.bytesPerSecond}, 0}; }

RankLink betweenProcesses() { return {kLoopback, 0}; }

std::function<double(uint32_t, int64_t)> addingUpOn(const Topology &topology) {
  auto models = std::make_shared<std::map<std::string, MachineModel>>();
  return [&topology, models](uint32_t node, int64_t bytes) {
    const Node &place = topology.nodes[node];
    double moved = 3 * double(bytes);
    if (place.rates.empty()) return place.bandwidth.nanoseconds(moved);
    auto [found, isNew] = models->try_emplace(place.rates);
    if (isNew) found->second = modelFor({&place.rates, 1});
    return found->second.seconds(double(bytes) / 4, moved, int64_t(moved), place.threads) * 1e9;
  };
}

Simulation playCollective(const Topology &topology, std::span<const rt::collective::Program> programs,
                          std::span<const uint32_t> nodes, int64_t bytes) {
  return simulate(topology, lanesOf(programs, nodes, bytes, addingUpOn(topology), &topology));
}

RankLink betweenNodes(const Topology &topology, std::span<const uint32_t> nodes) {
  constexpr double kBytes = 1e6;
  RankLink slowest;
  double longest = -1;
  for (size_t i = 0; i < nodes.size() && nodes.size() > 1; ++i) {
    uint32_t from = nodes[i], to = nodes[(i + 1) % nodes.size()];
    std::vector<Hop> way = topology.route(from, to, kBytes);
    Rate rate = Rate::ofBytes(rt::kMostPerSecond);
    for (Hop hop : way) rate = std::min(rate, topology.links[hop.link].totalRate());
    // Both ends' processors in turn.
    double handling = topology.messageNs(from, to, 0) + topology.messageNs(to, from, 0),
           moving = topology.messageNs(from, to, kBytes) + topology.messageNs(to, from, kBytes) - handling;
    double latency = topology.latencyNs(from, to, way) + handling, flow = rate.nanoseconds(kBytes) + moving;
    if (latency + flow <= longest) continue;
    longest = latency + flow;
    slowest.message = {latency / 1e9, moving > 0 ? kBytes * 1e9 / flow : rate.bytesPerSecond()};
  }
  auto addingUp = addingUpOn(topology);
  for (uint32_t node : nodes) {
    double rate = kBytes * 1e9 / addingUp(node, int64_t(kBytes));
    slowest.addBytesPerSecond = slowest.addBytesPerSecond > 0 ? std::min(slowest.addBytesPerSecond, rate) : rate;
  }
  return slowest;
}

// Seconds are steps * latency + bytes / rate; each sample weighs by its own time, so small ones count as much.
Link linkFrom(std::span<const MeasuredSteps> measured) {
  double ss = 0, sb = 0, bb = 0, s = 0, b = 0;
  for (const MeasuredSteps &each : measured) {
    if (!(each.seconds > 0)) continue;
    double steps = each.steps / each.seconds, bytes = each.bytes / each.seconds;
    ss += steps * steps;
    sb += steps * bytes;
    bb += bytes * bytes;
    s += steps;
    b += bytes;
  }
  double determinant = ss * bb - sb * sb;
  if (!(determinant > 0)) return {};
  double latency = (s * bb - b * sb) / determinant, perByte = (ss * b - sb * s) / determinant;
  return {std::max(0.0, latency), perByte > 0 ? 1 / perByte : 0};
}

} // namespace sprig::machine
