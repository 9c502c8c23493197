// Ways of a topology as links of their own, where these take the same times whatever goes on at once.
#include "lib/Machine/PairLinks.h"
#include "include/sprig/error.h"
#include "lib/Machine/TopologyPresets.h"
#include <gtest/gtest.h>

using namespace sprig;
using namespace sprig::machine;

namespace {

std::vector<LinkEnd> endsOf(const Topology &topology, std::initializer_list<const char *> names) {
  std::vector<LinkEnd> ends;
  for (const char *name : names) ends.push_back({uint32_t(topology.find(name)), name});
  return ends;
}

std::vector<std::string> exact(const Topology &topology, std::initializer_list<const char *> names,
                               const GivenPairs &given = {}) {
  return exactLinks(topology, endsOf(topology, names), given, "test");
}

std::string refusal(const Topology &topology, std::initializer_list<const char *> names) {
  try {
    exact(topology, names);
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

Topology preset(const char *name) { return topologyPreset(name).value(); }

using Links = std::vector<std::string>;

TEST(PairLinks, AWayIsTheSumOfItsLatenciesAndItsSlowestLink) {
  EXPECT_EQ(exact(preset("1gbe"), {"cpu:0", "cpu:1"}), Links{"cpu:0-cpu:1=50us,125MB/s"});
  EXPECT_EQ(exact(preset("10000km"), {"cpu:0", "cpu:1"}), Links{"cpu:0-cpu:1=50ms,1.25GB/s"});
  // Two links side by side.
  EXPECT_EQ(exact(preset("v100-nvlink"), {"cuda:0", "cuda:3"}), Links{"cuda:0-cuda:3=1.5us,75GB/s"});
  Topology uneven = preset("1gbe");
  uneven.links[1].rate = Rate::ofBytes(3e6);
  uneven.links[1].meters = 1e6;
  EXPECT_EQ(exact(uneven, {"cpu:0", "cpu:1"}), Links{"cpu:0-cpu:1=5.05ms,3MB/s"});
}

TEST(PairLinks, PairsShareNothing) {
  // Each card has its own link to the host and to each other.
  EXPECT_EQ(exact(preset("2080ti"), {"cpu:0", "cuda:0", "cuda:1"}),
            (Links{"cpu:0-cuda:0=5us,16GB/s", "cpu:0-cuda:1=5us,16GB/s", "cuda:0-cuda:1=1.5us,12.5GB/s"}));
  // The third pair goes over the links of the first two; all three share a hub's.
  EXPECT_NE(refusal(preset("pcie4"), {"cpu:0", "cuda:0", "cuda:1"})
                .find("the way between cuda:0 and cuda:1 goes over cpu:0-cuda:0, as the one between cpu:0 and cuda:0"),
            std::string::npos);
  EXPECT_NE(refusal(preset("1gbe"), {"cpu:0", "cpu:1", "cpu:2"}).find("goes over cpu:0-ethernet"), std::string::npos);
  // What a pair has a link of its own for is not asked.
  EXPECT_EQ(exact(preset("pcie4"), {"cpu:0", "cuda:0", "cuda:1"}, {{"cuda:1", "cuda:0"}}).size(), 2u);
  EXPECT_EQ(linksAlone(preset("1gbe"), endsOf(preset("1gbe"), {"cpu:0", "cpu:1", "cpu:2"})).size(), 3u);
}

TEST(PairLinks, HalfDuplexIsOfTheWholeWayOrOfNoMatter) {
  Topology made = preset("1gbe");
  made.links[0].halfDuplex = true;
  EXPECT_EQ(exact(made, {"cpu:0", "cpu:1"}), Links{"cpu:0-cpu:1=50us,125MB/s,half"});
  // Twice as quick: each direction has its full rate.
  made.links[0].count = 2;
  EXPECT_EQ(exact(made, {"cpu:0", "cpu:1"}), Links{"cpu:0-cpu:1=50us,125MB/s"});
  made.links[0].count = 1;
  made.links[0].rate = Rate::ofBytes(200e6);
  EXPECT_NE(refusal(made, {"cpu:0", "cpu:1"}).find("half duplex in a part"), std::string::npos);
}

TEST(PairLinks, BurstsAreNotOfRuns) {
  Topology made = preset("1gbe");
  made.links[0].burstBytes = 1;
  EXPECT_NE(refusal(made, {"cpu:0", "cpu:1"}).find("lets a burst of bytes pass at once"), std::string::npos);
}

TEST(PairLinks, OneWayHasToBeTheQuickestOfAnySize) {
  // A quick one with a late first byte beside a slow one.
  Topology made = preset("1gbe");
  Node hub{"second"};
  hub.kind = NodeKind::crossbar;
  uint32_t second = made.add(hub);
  for (const char *name : {"cpu:0", "cpu:1"})
    made.links.push_back({uint32_t(made.find(name)), second, 1e6, Rate::ofBytes(1e9)});
  EXPECT_NE(refusal(made, {"cpu:0", "cpu:1"}).find("another way for a few bytes than for many"), std::string::npos);
  Topology apart = preset("1gbe");
  apart.links.clear();
  EXPECT_NE(refusal(apart, {"cpu:0", "cpu:1"}).find("no way leads from cpu:0 to cpu:1"), std::string::npos);
  EXPECT_TRUE(linksAlone(apart, endsOf(apart, {"cpu:0", "cpu:1"})).empty());
}

} // namespace
