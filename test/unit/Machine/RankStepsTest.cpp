// Steps of ranks: the laws of collectives within them, and that one machine may stand for many.
#include "lib/Machine/RankSteps.h"
#include "include/sprig/error.h"
#include "lib/Machine/AllReduceTime.h"
#include "lib/Machine/TopologyPresets.h"
#include <gtest/gtest.h>

using namespace sprig;
using namespace sprig::machine;
using rt::collective::Algorithm;
using Meet = rt::collective::Kind;

namespace {

constexpr double kStepLatencyNs = 1000, kStepRate = 1e9; // a byte a nanosecond

// Adding up takes nothing that a sum of nanoseconds shows.
Topology clusterSwitch(int count) {
  Topology made;
  made.name = "test";
  for (int i = 0; i < count; ++i) {
    Node node{"cpu:" + std::to_string(i)};
    node.flops = 1e12;
    node.bandwidth = Rate::ofBytes(rt::kMostPerSecond);
    node.threads = 2;
    made.add(node);
  }
  Node hub{"hub"};
  hub.kind = NodeKind::crossbar;
  uint32_t to = made.add(hub);
  for (uint32_t i = 0; i < uint32_t(count); ++i)
    made.links.push_back({i, to, kStepLatencyNs / 2, Rate::ofBytes(kStepRate)});
  return made;
}

RankStep::Command work(double ns) { return {{SimulatedCommand::Kind::work, ns}}; }
RankStep::Command event(SimulatedCommand::Kind kind, uint32_t number) {
  SimulatedCommand command{kind};
  command.event = number;
  return {command};
}
RankStep::Command meet(Algorithm algorithm, int64_t bytes) { return {{}, {{Meet::allReduce, algorithm, bytes}}}; }

// Computes, then sums.
RankStep plain(double ns, Algorithm algorithm, int64_t bytes) { return {{{work(ns), meet(algorithm, bytes)}}, 0}; }

double nsOfStep(const Cluster &cluster, const RankStep &step, Played played) {
  const RankStep *steps[] = {&step};
  RankLanes lanes(cluster, steps, played);
  return simulate(lanes.topology(), lanes.program()).ns;
}

} // namespace

TEST(RankSteps, ComputationThenTheLawOfTheRing) {
  for (int ranks : {1, 2, 3, 8, 33, 64}) {
    double n = ranks;
    int64_t bytes = 1000 * ranks;
    Cluster cluster = clusterOf(clusterSwitch(2), ranks);
    double expected = 50000 + 2 * (n - 1) * (kStepLatencyNs + double(bytes) / n);
    RankStep step = plain(50000, Algorithm::ring, bytes);
    EXPECT_NEAR(nsOfStep(cluster, step, Played::all), expected, 1e-3) << ranks;
    if (cluster.one) EXPECT_NEAR(nsOfStep(cluster, step, Played::one), expected, 1e-3) << ranks;
    EXPECT_EQ(nsOfStep(cluster, step, Played::alone), 50000);
  }
}

TEST(RankSteps, ProcessorsHandleMessages) {
  for (int ranks : {2, 3, 8}) {
    Topology two = clusterSwitch(2);
    for (TopologyLink &link : two.links) link.handlingNs = 70, link.handlingRate = Rate::ofBytes(2e9);
    Cluster cluster = clusterOf(two, ranks);
    double n = ranks;
    int64_t bytes = 1000 * ranks;
    double message = kStepLatencyNs + 1000 + 2 * (70 + 500), sum = 2 * (n - 1) * message;
    RankStep step = plain(50000, Algorithm::ring, bytes);
    EXPECT_NEAR(nsOfStep(cluster, step, Played::all), 50000 + sum, 1e-3) << ranks;
    if (cluster.one) EXPECT_NEAR(nsOfStep(cluster, step, Played::one), 50000 + sum, 1e-3) << ranks;
    EXPECT_NEAR(allReduceSeconds(betweenNodes(cluster.topology, cluster.nodes), Algorithm::ring, ranks, double(bytes)),
                sum / 1e9, sum * 1e-12);
    // With one thread what computes meanwhile waits for it.
    for (Node &node : cluster.topology.nodes) node.threads = 1;
    RankStep beside{{{work(50000)}, {meet(Algorithm::ring, bytes)}}, 0};
    EXPECT_NEAR(nsOfStep(cluster, beside, Played::all), 50000 + 2 * (n - 1) * 2 * 570, 1e-3) << ranks;
  }
}

// What goes on beside the sum costs nothing as long as it is shorter, and the sum nothing while it is.
TEST(RankSteps, OverlapHidesWhatItCan) {
  constexpr int64_t kBytes = 8000;
  double sum = 2 * 7 * (kStepLatencyNs + kBytes / 8.0);
  Cluster cluster = clusterOf(clusterSwitch(2), 8);
  for (double behind : {0.0, 1000.0, sum, 2 * sum}) {
    RankStep step{
        {{work(10000), event(SimulatedCommand::Kind::record, 0), work(behind), event(SimulatedCommand::Kind::wait, 1)},
         {event(SimulatedCommand::Kind::wait, 0), meet(Algorithm::ring, kBytes),
          event(SimulatedCommand::Kind::record, 1)}},
        2};
    for (Played played : {Played::all, Played::one})
      EXPECT_NEAR(nsOfStep(cluster, step, played), 10000 + std::max(sum, behind), 1e-3) << behind;
  }
}

// Sums meet by their order, wherever a rank has them: here one has the first on a lane of its own, the other both on
// one.
TEST(RankSteps, RanksMayHaveOtherLanes) {
  constexpr int64_t kFirst = 8000, kSecond = 2000;
  Cluster cluster = clusterOf(clusterSwitch(2), 2);
  RankStep one{{{work(1000), meet(Algorithm::ring, kFirst), meet(Algorithm::ring, kSecond)}}, 0};
  RankStep two{{{work(1000), event(SimulatedCommand::Kind::record, 0), event(SimulatedCommand::Kind::wait, 1),
                 meet(Algorithm::ring, kSecond)},
                {event(SimulatedCommand::Kind::wait, 0), meet(Algorithm::ring, kFirst),
                 event(SimulatedCommand::Kind::record, 1)}},
               2};
  double expected = 1000 + 4 * kStepLatencyNs + kFirst + kSecond;
  for (auto [first, second] : {std::pair(&one, &two), {&two, &one}}) {
    const RankStep *steps[] = {first, second};
    RankLanes lanes(cluster, steps, Played::all);
    EXPECT_NEAR(simulate(lanes.topology(), lanes.program()).ns, expected, 1e-3);
  }
}

TEST(RankSteps, OneMachineStandsForAll) {
  Cluster hosts = clusterOf(*topologyPreset("10gbe"), 12);
  Cluster boards = clusterOf(*topologyPreset("v100-nvlink"), 32);
  EXPECT_EQ(hosts.perMachine, 1);
  EXPECT_EQ(boards.perMachine, 8);
  EXPECT_EQ(boards.machines(), 4);
  for (const Cluster *cluster : {&hosts, &boards})
    for (Algorithm algorithm :
         {Algorithm::ring, Algorithm::split, Algorithm::bidirectional, Algorithm::hierarchy, Algorithm::tree}) {
      // Two sums, of which the second follows on the first wherever ranks are by then.
      RankStep step{{{work(1000), meet(algorithm, 96 * 32 * 1000), work(500), meet(algorithm, 96 * 32)}}, 0};
      double all = nsOfStep(*cluster, step, Played::all), one = nsOfStep(*cluster, step, Played::one);
      // Trees begin when all have come; 12 is no power of two, so some come before others.
      EXPECT_NEAR(one / all, 1, algorithm == Algorithm::tree ? 0.1 : 1e-6)
          << cluster->topology.name << " by " << nameOf(algorithm);
    }
}

TEST(RankSteps, ThousandRanksAreQuick) {
  Cluster cluster = clusterOf(*topologyPreset("10gbe"), 1024);
  RankStep step{{{work(1000)}}, 0};
  for (int i = 0; i < 50; ++i) step.lanes[0].push_back(meet(i % 2 ? Algorithm::ring : Algorithm::tree, 1000 + i));
  const RankStep *steps[] = {&step};
  RankLanes lanes(cluster, steps, Played::one);
  Simulation played = simulate(lanes.topology(), lanes.program());
  EXPECT_EQ(lanes.ranks(), 1);
  double ring = 2 * 1023 * (20e3 + 2 / 1.25), tree = 2 * 10 * (20e3 + 1000 / 1.25); // a piece has up to two bytes
  EXPECT_GT(played.ns, 25 * (2 * 1023 * 20e3 + tree));
  EXPECT_LT(played.ns, 25 * (ring + tree) + 1e6);
  EXPECT_GT(lanes.meanBytesBesides(), 0);
}

TEST(RankSteps, EachRankHasTimesOfItsOwn) {
  Cluster cluster = clusterOf(clusterSwitch(3), 3);
  RankStep quick = plain(1000, Algorithm::ring, 3000), slow = plain(5000, Algorithm::ring, 3000);
  const RankStep *steps[] = {&quick, &slow, &quick};
  RankLanes lanes(cluster, steps, Played::all);
  Simulation played = simulate(lanes.topology(), lanes.program());
  auto first = lanes.commandsOf(0, played), second = lanes.commandsOf(1, played);
  ASSERT_EQ(first.size(), 1u);
  ASSERT_EQ(first[0].size(), 2u);
  EXPECT_EQ(first[0][0].end, 1000);
  EXPECT_EQ(first[0][1].begin, 1000);
  EXPECT_EQ(second[0][1].begin, 5000);
  EXPECT_EQ(std::max({first[0][1].end, second[0][1].end, lanes.commandsOf(2, played)[0][1].end}), played.ns);
}

TEST(Clusters, MoreMachinesByARule) {
  Cluster hosts = clusterOf(*topologyPreset("100gbe"), 64);
  EXPECT_EQ(hosts.rule, "64 hosts on one switch");
  EXPECT_EQ(hosts.topology.links.size(), 64u);
  EXPECT_EQ(hosts.topology.copyNs(hosts.nodes[3], hosts.nodes[40], 12500), 10000 + 1000);
  check(hosts.topology, "test");
  Cluster boards = clusterOf(*topologyPreset("pcie4"), 8, topologyPreset("10gbe"));
  EXPECT_EQ(boards.rule, "2 machines of 4, their hosts on one switch as of 10gbe");
  check(boards.topology, "test");
  // From card to card of two machines: up, over the network, down.
  EXPECT_EQ(boards.topology.copyNs(boards.nodes[0], boards.nodes[4], 1250), 2 * 5000 + 20000 + 1000);
  EXPECT_EQ(boards.topology.nodes[boards.nodes[7]].name, "cuda:7");
  Cluster few = clusterOf(*topologyPreset("v100-nvlink"), 4);
  EXPECT_EQ(few.rule, "");
  EXPECT_FALSE(few.one);
  // Around a ring of links of their own.
  for (size_t i = 0; i < 4; ++i)
    EXPECT_EQ(few.topology.route(few.nodes[i], few.nodes[(i + 1) % 4], 1e6).size(), 1u) << i;
}

TEST(Clusters, WhatHasNoRuleIsRefused) {
  auto why = [](const char *preset, int ranks, const char *network = nullptr) -> std::string {
    try {
      clusterOf(*topologyPreset(preset), ranks, network ? topologyPreset(network) : std::nullopt);
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(why("10000km", 3), "10000km has 2 devices for ranks, found 3 ranks: more of them there are of hosts on one "
                               "switch, and of a host with several cards");
  EXPECT_EQ(why("v100-nvlink", 12),
            "v100-nvlink has 8 devices for ranks, found 12 ranks: more than one machine has are whole machines of 8");
  EXPECT_EQ(why("pcie3", 8, "ssd"), "--network: ssd is no network: expected hosts on one switch, as 100gbe");
  EXPECT_NE(why("hdd", 2), "");
}
