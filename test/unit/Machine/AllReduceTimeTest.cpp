// What all-reduces take in closed form, against what the simulator plays on a switch.
#include "lib/Machine/AllReduceTime.h"
#include "lib/Machine/Collectives.h"
#include "lib/Machine/TopologyPresets.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace sprig::machine;
using sprig::rt::collective::Algorithm;
using sprig::rt::collective::Kind;

namespace {

constexpr double kSwitchNs = 1000;

Topology ranksOnSwitch(int count) {
  Topology made;
  for (int i = 0; i < count; ++i) {
    Node node{"cuda:" + std::to_string(i)};
    node.flops = 1e12;
    node.bandwidth = Rate::ofBytes(6e9); // 2 GB/s of an operand are added up
    made.add(node);
  }
  Node hub{"hub"};
  hub.kind = NodeKind::crossbar;
  uint32_t to = made.add(hub);
  for (uint32_t i = 0; i < uint32_t(count); ++i) made.links.push_back({i, to, kSwitchNs / 2, Rate::ofBytes(1e9)});
  return made;
}

double playedSeconds(const Topology &topology, Algorithm algorithm, int ranks, int64_t bytes) {
  std::vector<uint32_t> nodes(static_cast<size_t>(ranks));
  std::iota(nodes.begin(), nodes.end(), 0u);
  std::vector<sprig::rt::collective::Program> programs = programsOf({Kind::allReduce, algorithm, ranks});
  return simulate(topology, lanesOf(programs, nodes, bytes, addingUpOn(topology))).ns / 1e9;
}

} // namespace

TEST(AllReduceTime, IsWhatIsPlayedOnASwitch) {
  for (int ranks : {2, 3, 4, 7, 8, 16}) {
    Topology machine = ranksOnSwitch(ranks);
    std::vector<uint32_t> nodes(static_cast<size_t>(ranks));
    std::iota(nodes.begin(), nodes.end(), 0u);
    RankLink link = betweenNodes(machine, nodes);
    EXPECT_DOUBLE_EQ(link.message.latency, 1e-6);
    EXPECT_DOUBLE_EQ(link.message.bytesPerSecond, 1e9);
    EXPECT_NEAR(link.addBytesPerSecond, 2e9, 1);
    int64_t bytes = 5040 * 1000 * ranks;
    for (Algorithm algorithm : {Algorithm::star, Algorithm::split, Algorithm::ring, Algorithm::tree}) {
      if (algorithm == Algorithm::tree && (ranks & (ranks - 1))) continue; // some of its rounds are not full
      if (algorithm == Algorithm::split && ranks > 2) continue;            // adds up when all have come
      EXPECT_NEAR(allReduceSeconds(link, algorithm, ranks, double(bytes)) /
                      playedSeconds(machine, algorithm, ranks, bytes),
                  1, 1e-9)
          << nameOf(algorithm) << " of " << ranks;
    }
  }
  EXPECT_EQ(allReduceSeconds({{1e-6, 1e9}, 0}, Algorithm::ring, 1, 1e6), 0);
}

// Both halves are the ring, and half of it each, by what all-reduces were found to take.
TEST(AllReduceTime, HasTwoHalves) {
  RankLink link{{1e-6, 1e9}, 2e9};
  for (int ranks : {2, 3, 4, 8, 64}) {
    double bytes = 1e6 * ranks, whole = allReduceSeconds(link, Algorithm::ring, ranks, bytes);
    AllReduceRate rate{allReduceSeconds(link, ranks, 0),
                       bytes / (whole - allReduceSeconds(link, Algorithm::ring, ranks, 0))};
    EXPECT_EQ(collectiveSeconds(rate, Kind::allReduce, ranks, 0), rate.latency);
    EXPECT_NEAR(collectiveSeconds(rate, Kind::reduceScatter, ranks, bytes) +
                    collectiveSeconds(rate, Kind::allGather, ranks, bytes),
                whole, 1e-12)
        << ranks;
  }
  EXPECT_EQ(collectiveSeconds({1e-6, 1e9}, Kind::allReduce, 1, 1e6), 0);
}

// 2 (N-1) (a + S/(N B)) against 2 ceil(log2 N) (a + S/B).
TEST(AllReduceTime, TreeForFewBytesRingForMany) {
  RankLink link{{1e-6, 1e9}, 0};
  for (int ranks : {2, 3}) EXPECT_EQ(ringBeatsTreeFrom(link, ranks), 0); // as many messages, fewer bytes
  for (int ranks : {4, 8, 64, 1000}) {
    double from = ringBeatsTreeFrom(link, ranks);
    ASSERT_GT(from, 0) << ranks;
    auto seconds = [&](Algorithm algorithm, double bytes) { return allReduceSeconds(link, algorithm, ranks, bytes); };
    EXPECT_NEAR(seconds(Algorithm::tree, from) / seconds(Algorithm::ring, from), 1, 1e-9);
    EXPECT_LT(seconds(Algorithm::tree, from / 2), seconds(Algorithm::ring, from / 2));
    EXPECT_GT(seconds(Algorithm::tree, from * 2), seconds(Algorithm::ring, from * 2));
  }
  // 8 ranks: 14 messages of an eighth, or 6 of all: 8 us more latency, 4.25 ns less a byte.
  EXPECT_NEAR(ringBeatsTreeFrom(link, 8), 8e-6 / 4.25e-9, 1e-3);
}

TEST(AllReduceTime, TheTableHasOneChange) {
  int64_t most = tableGivesTreeUpTo(4);
  using sprig::rt::collective::chooseAlgorithm;
  EXPECT_EQ(chooseAlgorithm(Kind::allReduce, 4, most), Algorithm::tree);
  EXPECT_EQ(chooseAlgorithm(Kind::allReduce, 4, most + 1), Algorithm::ring);
  RankLink link{{1e-6, 1e9}, 0};
  EXPECT_EQ(allReduceSeconds(link, 4, double(most)), allReduceSeconds(link, Algorithm::tree, 4, double(most)));
  EXPECT_EQ(allReduceSeconds(link, 4, double(most + 1)), allReduceSeconds(link, Algorithm::ring, 4, double(most + 1)));
}

TEST(AllReduceTime, FindsLatencyAndRateAgain) {
  RankLink link{{3e-6, 2e9}, 0};
  std::vector<MeasuredSteps> measured;
  for (Algorithm algorithm : {Algorithm::tree, Algorithm::ring})
    for (double bytes : {4.0, 1e3, 1e5, 1e7}) {
      measured.push_back(stepsOf(Kind::allReduce, algorithm, 4, bytes));
      measured.back().seconds = allReduceSeconds(link, algorithm, 4, bytes);
    }
  Link found = linkFrom(measured);
  EXPECT_NEAR(found.latency, 3e-6, 1e-12);
  EXPECT_NEAR(found.bytesPerSecond, 2e9, 1e3);
  EXPECT_EQ(linkFrom({}).bytesPerSecond, 0);
}

// As measured between two processes: 0.09 ms for few bytes, 1.5 GB/s for many.
TEST(AllReduceTime, RanksOfOneMachineHaveUsualLinks) {
  RankLink processes = betweenProcesses();
  EXPECT_NEAR(allReduceSeconds(processes, 2, 4), 9e-5, 1e-7);
  EXPECT_NEAR(allReduceSeconds(processes, 2, 1.5e9), 1, 1e-3);
  MachineModel model = defaultModel("x86-64-v4");
  RankLink threads = betweenThreads(model);
  EXPECT_EQ(allReduceSeconds(threads, 2, 0), 2 * model.handOff);
  EXPECT_LT(allReduceSeconds(threads, 2, 1e6), allReduceSeconds(processes, 2, 1e6));
}

TEST(AllReduceTime, TheSlowestWayAroundCounts) {
  Topology cards = *topologyPreset("pcie3");
  RankLink link = betweenNodes(cards, std::vector<uint32_t>{1, 2, 3, 4});
  EXPECT_NEAR(link.message.latency, 10e-6, 1e-12); // up and down
  EXPECT_EQ(link.message.bytesPerSecond, 16e9);
  EXPECT_NEAR(link.addBytesPerSecond, 300e9, 1e3); // 900 GB/s
}
