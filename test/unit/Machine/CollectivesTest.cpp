// All-reduce on machines that are not here: the laws of the algorithms, exactly where nothing else costs.
#include "lib/Machine/Collectives.h"
#include "include/sprig/error.h"
#include "lib/Machine/TopologyPresets.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace sprig;
using namespace sprig::machine;
using rt::collective::Algorithm;
using rt::collective::Kind;
using rt::collective::Plan;

namespace {

constexpr double kLatencyNs = 1000;
constexpr double kRate = 1e9; // a byte a nanosecond

Node device(int number) {
  Node node{"cuda:" + std::to_string(number)};
  node.flops = 1e12;
  node.bandwidth = Rate::ofBytes(1e12);
  return node;
}

// Every device has a link to a switch; the latencies of a way add up to one.
Topology onSwitch(int count) {
  Topology made;
  Node hub{"hub"};
  hub.kind = NodeKind::crossbar;
  for (int i = 0; i < count; ++i) made.add(device(i));
  uint32_t to = made.add(hub);
  for (uint32_t i = 0; i < uint32_t(count); ++i) made.links.push_back({i, to, kLatencyNs / 2, Rate::ofBytes(kRate)});
  return made;
}

std::vector<uint32_t> first(int count, uint32_t from = 0) {
  std::vector<uint32_t> nodes(static_cast<size_t>(count));
  std::iota(nodes.begin(), nodes.end(), from);
  return nodes;
}

std::vector<uint32_t> cards(const Topology &topology) {
  std::vector<uint32_t> nodes;
  for (uint32_t i = 0; i < topology.nodes.size(); ++i)
    if (topology.nodes[i].name.starts_with("cuda:")) nodes.push_back(i);
  return nodes;
}

double nothing(uint32_t, int64_t) { return 0; }

double nsOf(const Topology &topology, std::span<const uint32_t> nodes,
            const std::vector<rt::collective::Program> &programs, int64_t bytes) {
  return simulate(topology, lanesOf(programs, nodes, bytes, nothing)).ns;
}
double nsOf(const Topology &topology, std::span<const uint32_t> nodes, Algorithm algorithm, int64_t bytes,
            int perMachine = 1, std::vector<std::vector<int>> rings = {}) {
  Plan plan{Kind::allReduce, algorithm, int(nodes.size()), 0, perMachine, std::move(rings)};
  return nsOf(topology, nodes, programsOf(plan), bytes);
}

} // namespace

TEST(Collectives, RingAndTreeTakeWhatTheirLawsSay) {
  for (int ranks = 2; ranks <= 9; ++ranks) {
    Topology machine = onSwitch(ranks);
    std::vector<uint32_t> nodes = first(ranks);
    double n = ranks, bytes = 1000 * 5040 * n; // a multiple of every number of pieces
    EXPECT_DOUBLE_EQ(nsOf(machine, nodes, Algorithm::ring, int64_t(bytes)), 2 * (n - 1) * (kLatencyNs + bytes / n));
    EXPECT_DOUBLE_EQ(nsOf(machine, nodes, Algorithm::split, int64_t(bytes)), 2 * (n - 1) * (kLatencyNs + bytes / n));
    // Both halves at once: on a switch they share each rank's one link.
    EXPECT_NEAR(nsOf(machine, nodes, Algorithm::bidirectional, int64_t(bytes)), 2 * (n - 1) * (kLatencyNs + bytes / n),
                1e-6 * bytes);
    if ((ranks & (ranks - 1)) == 0) {
      double rounds = std::log2(n);
      EXPECT_DOUBLE_EQ(nsOf(machine, nodes, Algorithm::tree, int64_t(bytes)), 2 * rounds * (kLatencyNs + bytes));
    }
    // The way to rank 0 is one link that all share: together they take as long as one after the other.
    EXPECT_NEAR(nsOf(machine, nodes, Algorithm::star, int64_t(bytes)),
                (kLatencyNs + (n - 1) * bytes) + (n - 1) * (kLatencyNs + bytes), 1e-6 * bytes);
  }
}

// 100 MB: sixteen ranks take hardly longer than four.
TEST(Collectives, RingIsFlatInTheRanks) {
  double four = nsOf(onSwitch(4), first(4), Algorithm::ring, 100000000),
         sixteen = nsOf(onSwitch(16), first(16), Algorithm::ring, 100000000);
  EXPECT_LE(sixteen / four, 1.3);
  EXPECT_GT(sixteen / four, 1.0);
}

// Where neighbours have links of their own that carry both ways, half of the bytes go each way.
TEST(Collectives, BothWaysAroundTakeHalf) {
  Topology circle;
  for (int i = 0; i < 8; ++i) circle.add(device(i));
  for (uint32_t i = 0; i < 8; ++i) circle.links.push_back({i, (i + 1) % 8, kLatencyNs, Rate::ofBytes(kRate)});
  std::vector<uint32_t> nodes = first(8);
  double one = nsOf(circle, nodes, Algorithm::ring, 80000000),
         both = nsOf(circle, nodes, Algorithm::bidirectional, 80000000);
  EXPECT_LE(both / one, 0.55);
  EXPECT_GE(both / one, 0.5);
}

// The complete graph of five has two rings that share no link.
TEST(Collectives, TwoRingsTakeHalf) {
  Topology complete;
  for (int i = 0; i < 5; ++i) complete.add(device(i));
  for (uint32_t a = 0; a < 5; ++a)
    for (uint32_t b = a + 1; b < 5; ++b) complete.links.push_back({a, b, kLatencyNs, Rate::ofBytes(kRate)});
  std::vector<uint32_t> nodes = first(5);
  std::vector<std::vector<int>> rings = disjointRings(complete, nodes, 4);
  ASSERT_EQ(rings.size(), 2u);
  double one = nsOf(complete, nodes, Algorithm::rings, 50000000, 1, {rings[0]}),
         two = nsOf(complete, nodes, Algorithm::rings, 50000000, 1, rings);
  EXPECT_NEAR(two / one, 0.5, 0.01);
}

// Eight cards with six links each: three rings take all 24, and no pair is used more often than it has links.
TEST(Collectives, RingsCoverTheLinksOfTheCube) {
  Topology cube = *topologyPreset("v100-nvlink");
  std::vector<uint32_t> nodes = cards(cube);
  std::vector<std::vector<int>> rings = disjointRings(cube, nodes, 4);
  ASSERT_EQ(rings.size(), 3u);
  std::map<std::pair<int, int>, int> used;
  for (const std::vector<int> &ring : rings) {
    ASSERT_EQ(ring.size(), 8u);
    for (size_t i = 0; i < 8; ++i) ++used[std::minmax(ring[i], ring[(i + 1) % 8])];
  }
  for (auto [pair, times] : used) {
    int links = 0;
    for (const TopologyLink &link : cube.links)
      if (std::minmax(link.a, link.b) == std::minmax(nodes[size_t(pair.first)], nodes[size_t(pair.second)]))
        links += link.count;
    EXPECT_EQ(times, links) << pair.first << " - " << pair.second;
  }
  double one = nsOf(cube, nodes, Algorithm::ring, 100000000),
         three = nsOf(cube, nodes, Algorithm::rings, 100000000, 1, rings);
  EXPECT_LT(three, 0.5 * one);
}

TEST(Collectives, NoRingWhereThereIsNone) {
  Topology star = onSwitch(4);
  EXPECT_TRUE(disjointRings(star, first(4), 2).empty());
  EXPECT_TRUE(disjointRings(star, first(1), 2).empty());
}

// Two machines of four: each sends as many bytes to the other as a rank has, not as four have, and is faster for it.
TEST(Collectives, HierarchySparesTheNetwork) {
  Topology machines;
  Node hub{"hub"};
  hub.kind = NodeKind::crossbar;
  for (int i = 0; i < 8; ++i) machines.add(device(i));
  for (int m = 0; m < 2; ++m) {
    hub.name = "hub:" + std::to_string(m);
    uint32_t to = machines.add(hub);
    for (uint32_t i = 0; i < 4; ++i)
      machines.links.push_back({uint32_t(m) * 4 + i, to, 500, Rate::ofBytes(10 * kRate)});
  }
  machines.links.push_back({8, 9, 10000, Rate::ofBytes(kRate)});
  std::vector<uint32_t> nodes = first(8);
  constexpr int64_t kBytes = 8000000;
  Plan plan{Kind::allReduce, Algorithm::hierarchy, 8, 0, 4};
  Simulation played = simulate(machines, lanesOf(programsOf(plan), nodes, kBytes, nothing));
  for (const LinkUse &use : played.links)
    if (use.link == machines.links.size() - 1) EXPECT_EQ(use.bytes, double(kBytes));
  // A ring that does not know of machines has the same bytes between them, but waits for them in each round.
  EXPECT_LT(played.ns, nsOf(machines, nodes, Algorithm::ring, kBytes));
  EXPECT_LT(played.ns, 0.3 * nsOf(machines, nodes, Algorithm::star, kBytes));
}

// Of four cards on PCIe: in parts or around before one card for all, before the host for all, whose memory is slower.
TEST(Collectives, WhereToAddUpMatters) {
  Topology pcie = *topologyPreset("pcie3");
  std::vector<uint32_t> nodes = cards(pcie), withHost = {0};
  withHost.insert(withHost.end(), nodes.begin(), nodes.end());
  constexpr int64_t kBytes = 160000000;
  auto reduceNs = [&](uint32_t node, int64_t bytes) {
    return 3e9 * double(bytes) / (node ? pcie.nodes[node].bandwidth.bytesPerSecond() : 20e9);
  };
  auto ns = [&](Algorithm algorithm) {
    Plan plan{Kind::allReduce, algorithm, 4};
    return simulate(pcie, lanesOf(programsOf(plan), nodes, kBytes, reduceNs)).ns;
  };
  double host = simulate(pcie, lanesOf(throughHelper(4), withHost, kBytes, reduceNs)).ns;
  EXPECT_LT(ns(Algorithm::split), ns(Algorithm::star));
  EXPECT_LT(ns(Algorithm::ring), ns(Algorithm::star));
  EXPECT_LT(ns(Algorithm::star), host);
  EXPECT_GE(host / std::min(ns(Algorithm::ring), ns(Algorithm::split)), 3);
}

TEST(Collectives, WrongPlansAreRefused) {
  try {
    programsOf({Kind::allReduce, Algorithm::hierarchy, 6, 0, 4});
    ADD_FAILURE();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "6 ranks are no whole number of machines with 4 each");
  }
}
