#include "lib/Machine/Simulator.h"
#include "include/sprig/error.h"
#include "lib/Machine/FairShares.h"
#include "lib/Machine/TopologyPresets.h"
#include <gtest/gtest.h>
#include <numeric>

using namespace sprig;
using namespace sprig::machine;

namespace {

// A program as it is built up, lane by lane.
struct Program : SimulatedProgram {
  uint32_t lane(uint32_t deviceNamed) {
    lanes.push_back({deviceNamed, {}});
    return uint32_t(lanes.size() - 1);
  }
  uint32_t event() { return events++; }
  void work(uint32_t lane, double ns, int threads = 1) { add(lane, {SimulatedCommand::Kind::work, ns, threads}); }
  void copy(uint32_t lane, uint32_t from, uint32_t to, double bytes) {
    add(lane, {SimulatedCommand::Kind::copy, 0, 1, bytes, from, to});
  }
  void record(uint32_t lane, uint32_t event) { add(lane, {SimulatedCommand::Kind::record, 0, 1, 0, 0, 0, event}); }
  void wait(uint32_t lane, uint32_t event) { add(lane, {SimulatedCommand::Kind::wait, 0, 1, 0, 0, 0, event}); }
  void add(uint32_t lane, SimulatedCommand command) { lanes[lane].commands.push_back(command); }
};

Node deviceNamed(const std::string &name, int threads = 1) {
  Node node{name};
  node.flops = 1e12;
  node.bandwidth = Rate::ofBytes(1e12);
  node.threads = threads;
  return node;
}

// So many devices on a switch, each link with 1 us and 1 GB/s.
Topology devicesOnSwitch(int count) {
  Topology made;
  made.name = "switch";
  Node hub{"hub"};
  hub.kind = NodeKind::crossbar;
  for (int i = 0; i < count; ++i) made.add(deviceNamed("cpu:" + std::to_string(i)));
  uint32_t to = made.add(hub);
  for (uint32_t i = 0; i < uint32_t(count); ++i) made.links.push_back({i, to, 1000, Rate::ofBytes(1e9)});
  check(made, "test");
  return made;
}

Topology oneDevice(int threads = 1) {
  Topology made;
  made.add(deviceNamed("cpu:0", threads));
  return made;
}

// Calls go through a front-end, a device and a return, each on a device of its own.
TEST(Simulator, CallsOverlapByTheLawOfTimelines) {
  constexpr int kCalls = 10000;
  Topology stages = devicesOnSwitch(3);
  for (auto [t1, t2, t3] : {std::array{2e3, 50e3, 5e3}, {10e3, 10e3, 10e3}, {50e3, 2e3, 5e3}, {1e3, 1e6, 1e3}}) {
    for (bool readsEach : {false, true}) {
      Program program;
      uint32_t front = program.lane(0), compute = program.lane(1), back = program.lane(2);
      for (int call = 0; call < kCalls; ++call) {
        uint32_t issued = program.event(), computed = program.event();
        program.work(front, t1);
        program.record(front, issued);
        program.wait(compute, issued);
        program.work(compute, t2);
        program.record(compute, computed);
        if (!readsEach && call + 1 < kCalls) continue;
        uint32_t read = program.event();
        program.wait(back, computed);
        program.work(back, t3);
        program.record(back, read);
        program.wait(front, read);
      }
      double law = readsEach ? kCalls * (t1 + t2 + t3) : t1 + t2 + (kCalls - 1) * std::max(t1, t2) + t3;
      if (!readsEach && t1 <= t2) EXPECT_EQ(law, t1 + kCalls * t2 + t3);
      Simulation played = simulate(stages, program);
      EXPECT_EQ(played.ns, law);
      EXPECT_EQ(covered(played.deviceBusy[1]), kCalls * t2);
    }
  }
}

TEST(Simulator, TwoDevicesTakeTheLongerOfBoth) {
  Program program;
  uint32_t zero = program.lane(0), one = program.lane(1);
  for (int i = 0; i < 10; ++i) {
    program.work(zero, 3000);
    program.work(one, 4000);
  }
  Simulation played = simulate(devicesOnSwitch(2), program);
  EXPECT_EQ(played.ns, 40'000);
  EXPECT_EQ(covered(played.deviceBusy[0]), 30'000);
}

// y[i] is computed while y[i-1] is copied.
TEST(Simulator, CopiesGoOnBesideWork) {
  Topology card = topologyPreset("pcie4").value();
  uint32_t host = 0, gpu = 1;
  constexpr int kPieces = 10;
  for (double work : {300e3, 20e3}) {
    Program program;
    uint32_t compute = program.lane(gpu), copies = program.lane(gpu);
    for (int i = 0; i < kPieces; ++i) {
      uint32_t computed = program.event();
      program.work(compute, work);
      program.record(compute, computed);
      program.wait(copies, computed);
      program.copy(copies, gpu, host, 3.2e6);
    }
    Simulation played = simulate(card, program);
    double copy = 105e3, longer = std::max(work, copy), shorter = std::min(work, copy);
    EXPECT_EQ(played.ns, kPieces * longer + shorter);
    EXPECT_LT(played.ns, kPieces * (work + copy));
    EXPECT_EQ(played.copyNs, kPieces * copy);
    // What no computation hides: the last copy, or all but what goes on beside the work after the first.
    EXPECT_EQ(played.exposedCopyNs, played.ns - kPieces * work);
  }
}

TEST(Simulator, DisjointPairsOfASwitchDoNotSlowEachOther) {
  auto copyAll = [](const std::vector<std::pair<uint32_t, uint32_t>> &pairs) {
    Program program;
    for (auto [from, to] : pairs) program.copy(program.lane(from), from, to, 1e6);
    return simulate(devicesOnSwitch(8), program);
  };
  EXPECT_EQ(copyAll({{0, 1}}).ns, 2000 + 1e6);
  EXPECT_EQ(copyAll({{0, 1}, {2, 3}, {4, 5}, {6, 7}}).ns, 2000 + 1e6);
  // Both directions of a link at once, a ring.
  EXPECT_EQ(copyAll({{0, 1}, {1, 0}}).ns, 2000 + 1e6);
  EXPECT_EQ(copyAll({{0, 1}, {1, 2}, {2, 3}, {3, 0}}).ns, 2000 + 1e6);
  // A link that several go over is shared.
  EXPECT_EQ(copyAll({{0, 1}, {0, 2}}).ns, 2000 + 2e6);
  EXPECT_EQ(copyAll({{0, 1}, {2, 1}, {3, 1}}).ns, 2000 + 3e6);
  Simulation shared = copyAll({{0, 1}, {0, 2}, {4, 5}});
  EXPECT_EQ(shared.commands[2][0].end, 2000 + 1e6);
  ASSERT_EQ(shared.links.size(), 5u);
  EXPECT_EQ(shared.links[0].copies, 2u);
  EXPECT_EQ(shared.links[0].bytes, 2e6);
  EXPECT_EQ(covered(shared.links[0].busy), 2e6);
}

TEST(Simulator, AServersCardsShareTheLinkToTheHost) {
  Topology server = topologyPreset("pcie4-server").value();
  auto upload = [&](std::vector<const char *> cards) {
    Program program;
    for (const char *card : cards) {
      auto to = uint32_t(server.find(card));
      program.copy(program.lane(to), 0, to, 32e6);
    }
    return simulate(server, program).ns;
  };
  EXPECT_EQ(upload({"cuda:0"}), 1'005'000);
  EXPECT_EQ(upload({"cuda:0", "cuda:4"}), 1'005'000);
  EXPECT_EQ(upload({"cuda:0", "cuda:1"}), 2'005'000);
  EXPECT_EQ(upload({"cuda:0", "cuda:1", "cuda:2", "cuda:3"}), 4'005'000);
}

TEST(Simulator, HalfDuplexSharesBothDirections) {
  for (bool half : {false, true}) {
    Topology made;
    made.add(deviceNamed("cpu:0"));
    made.add(deviceNamed("cpu:1"));
    made.links.push_back({0, 1, 1000, Rate::ofBytes(1e9), 1, half});
    Program program;
    program.copy(program.lane(0), 0, 1, 1e6);
    program.copy(program.lane(1), 1, 0, 1e6);
    EXPECT_EQ(simulate(made, program).ns, 1000 + (half ? 2e6 : 1e6));
  }
}

// One that comes later takes half of what is there from then on.
TEST(Simulator, WhoComesLaterShares) {
  Topology made = devicesOnSwitch(3);
  Program program;
  uint32_t first = program.lane(0), second = program.lane(2);
  program.copy(first, 0, 1, 1e6);
  program.work(second, 500e3);
  program.copy(second, 2, 1, 1e6);
  Simulation played = simulate(made, program);
  // Half is over when the other begins, the rest takes twice as long; then it has the link for itself.
  EXPECT_NEAR(played.commands[0][0].end, 2000 + 1.5e6, 1e-3);
  EXPECT_NEAR(played.ns, 2000 + 2e6, 1e-3);
}

// 1 GB/s are a byte a nanosecond.
TEST(Simulator, BurstsPassAtOnceAndFillUpAgain) {
  Topology two = devicesOnSwitch(2);
  for (TopologyLink &link : two.links) link.burstBytes = 3000;
  bool followsItself = false;
  auto played = [&](std::initializer_list<std::pair<double, double>> copies) { // a pause, then so many bytes
    Program program;
    uint32_t lane = program.lane(0);
    for (auto [pause, bytes] : copies) {
      program.work(lane, pause);
      program.copy(lane, 0, 1, bytes);
    }
    program.followsItself = followsItself;
    return simulate(two, program).ns;
  };
  EXPECT_NEAR(played({{0, 2000}}), 2000, 1e-3); // the latency of two links
  EXPECT_NEAR(played({{0, 10000}}), 2000 + 7000, 1e-3);
  // While the next copy is on its way to the first byte, and in the pause, 2500 come in.
  EXPECT_NEAR(played({{0, 10000}, {500, 4000}}), 9000 + 500 + 2000 + 1500, 1e-3);
  EXPECT_NEAR(played({{0, 10000}, {5000, 4000}}), 9000 + 5000 + 2000 + 1000, 1e-3);
  followsItself = true;
  EXPECT_NEAR(played({{500, 10000}}), 500 + 2000 + 7500, 1e-3);
  followsItself = false;
  // A link without a burst on the way: its rate.
  two.links[1].burstBytes = 0;
  EXPECT_NEAR(played({{0, 10000}}), 2000 + 10000, 1e-3);
}

TEST(Simulator, BurstsAreOfAllWhoShareTheLink) {
  Topology three = devicesOnSwitch(3);
  for (TopologyLink &link : three.links) link.burstBytes = 3000;
  Program program;
  for (uint32_t to : {1, 2}) program.copy(program.lane(0), 0, to, 5000);
  EXPECT_NEAR(simulate(three, program).ns, 2000 + 7000, 1e-3);
}

TEST(Simulator, FairSharesFillUpWhatIsLeft) {
  // Two links of 10 and 4: the second's flows have 2 each, the first's other one the rest.
  const double capacities[] = {10, 4};
  const uint32_t first[] = {0}, both[] = {0, 1}, second[] = {1};
  const std::span<const uint32_t> flows[] = {first, both, second};
  EXPECT_EQ(fairShares(capacities, flows), (std::vector<double>{8, 2, 2}));
}

// 10000 km at 2e8 m/s: a round trip of 100 ms, whatever the rate.
TEST(Simulator, DistanceTakesTime) {
  Topology far = topologyPreset("10000km").value();
  Program program;
  uint32_t lane = program.lane(0);
  program.copy(lane, 0, 1, 0);
  program.copy(lane, 1, 0, 0);
  EXPECT_EQ(simulate(far, program).ns, 100e6);
  program.copy(lane, 0, 1, 1.25e6);
  EXPECT_EQ(simulate(far, program).ns, 150e6 + 1e6);
}

// Ring all-reduce: 2 (n - 1) steps, each device sends a part to the next one.
double allReduce(const char *preset, const char *kind, double bytes) {
  Topology made = topologyPreset(preset).value();
  constexpr uint32_t kRing[] = {0, 1, 2, 3}, kCount = 4;
  uint32_t nodes[kCount];
  for (uint32_t i = 0; i < kCount; ++i) nodes[i] = uint32_t(made.find(kind + std::to_string(kRing[i])));
  Program program;
  for (uint32_t node : nodes) program.lane(node);
  for (uint32_t step = 0; step < 2 * (kCount - 1); ++step) {
    uint32_t firstEvent = program.events;
    for (uint32_t i = 0; i < kCount; ++i) {
      program.copy(i, nodes[i], nodes[(i + 1) % kCount], bytes / kCount);
      program.record(i, program.event());
    }
    for (uint32_t i = 0; i < kCount; ++i) program.wait(i, firstEvent + (i + kCount - 1) % kCount);
  }
  return simulate(made, program).ns;
}

TEST(Simulator, GradientsSyncFasterOverNVLinkThanPCIeThanEthernet) {
  // ResNet-18's gradients, and small ones.
  for (double bytes : {46.8e6, 1e6, 40e3}) {
    std::vector<double> times = {allReduce("v100-nvlink", "cuda:", bytes), allReduce("pcie4", "cuda:", bytes),
                                 allReduce("pcie3", "cuda:", bytes),       allReduce("100gbe", "cpu:", bytes),
                                 allReduce("25gbe", "cpu:", bytes),        allReduce("10gbe", "cpu:", bytes),
                                 allReduce("1gbe", "cpu:", bytes)};
    for (size_t i = 1; i < times.size(); ++i) EXPECT_LT(times[i - 1], times[i]) << bytes << " bytes, preset " << i;
  }
  // Six steps of a quarter, over 10 Gbit/s and 20 us.
  EXPECT_EQ(allReduce("10gbe", "cpu:", 40e6), 6 * (20e3 + 8e6));
}

// From the record on; who comes later has nothing to wait for.
TEST(Simulator, WaitsTakeAHandOff) {
  for (double late : {0.0, 250.0, 800.0}) {
    Program program;
    uint32_t first = program.lane(0), second = program.lane(1), done = program.event();
    program.work(first, 100);
    program.record(first, done);
    program.work(second, late);
    program.wait(second, done);
    program.lanes[second].commands.back().ns = 500;
    program.work(second, 1000);
    EXPECT_EQ(simulate(devicesOnSwitch(2), program).ns, std::max(late, 600.0) + 1000);
  }
}

TEST(Simulator, ThreadsOfADeviceAreShared) {
  auto play = [](int deviceThreads, std::vector<int> wanted) {
    Program program;
    for (int threads : wanted) program.work(program.lane(0), 1000, threads);
    return simulate(oneDevice(deviceThreads), program).ns;
  };
  EXPECT_EQ(play(1, {1}), 1000);
  EXPECT_EQ(play(1, {1, 1}), 2000);
  EXPECT_EQ(play(2, {1, 1}), 1000);
  EXPECT_EQ(play(2, {2, 2}), 2000);
  EXPECT_EQ(play(2, {64}), 1000);
  EXPECT_EQ(play(4, {1, 1, 2}), 1000);
}

TEST(Simulator, AStorageServesSoManyPlacesAtOnce) {
  auto reads = [](const char *preset, int lanes, int count) {
    Topology made = topologyPreset(preset).value();
    Program program;
    for (int i = 0; i < lanes; ++i) {
      uint32_t lane = program.lane(0);
      for (int k = 0; k < count; ++k) program.copy(lane, uint32_t(made.find("disk:0")), 0, 4096);
    }
    return lanes * count / (simulate(made, program).ns * 1e-9);
  };
  // Some 100 places of 4 KB a second, however many ask; 400,000 of a solid state disk, if enough ask.
  EXPECT_NEAR(reads("hdd", 1, 10), 103, 1);
  EXPECT_NEAR(reads("hdd", 8, 10), 103, 1);
  EXPECT_NEAR(reads("ssd", 1, 10), 12'200, 100);
  EXPECT_NEAR(reads("ssd", 64, 50), 400'000, 20'000);
}

TEST(Simulator, RefusesWhatCannotGoOn) {
  auto refused = [](const Topology &topology, const Program &program) -> std::string {
    try {
      simulate(topology, program);
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), ErrorKind::badInput);
      return error.what();
    }
    return "";
  };
  Program stuck;
  uint32_t a = stuck.lane(0), b = stuck.lane(0), first = stuck.event(), second = stuck.event();
  stuck.wait(a, first);
  stuck.record(a, second);
  stuck.wait(b, second);
  stuck.record(b, first);
  EXPECT_EQ(refused(oneDevice(), stuck),
            "the program is stuck: lane 0 waits for event 0, which no lane records before it");
  Topology apart;
  apart.name = "islands";
  apart.add(deviceNamed("cpu:0"));
  apart.add(deviceNamed("cpu:1"));
  Program copy;
  copy.copy(copy.lane(0), 0, 1, 1);
  EXPECT_EQ(refused(apart, copy), "topology 'islands': no way leads from cpu:0 to cpu:1, which lane 0 copies over; "
                                  "expected links between them, through switches and nodes that forward");
}

// The same again, to the bit.
TEST(Simulator, IsDeterministic) {
  Topology made = topologyPreset("v100-nvlink").value();
  Program program;
  for (uint32_t i = 0; i < 40; ++i) {
    auto node = uint32_t(made.find("cuda:" + std::to_string(i % 8)));
    auto next = uint32_t(made.find("cuda:" + std::to_string((i * 3 + 1) % 8)));
    uint32_t lane = program.lane(node);
    for (uint32_t k = 0; k < 20; ++k) {
      program.work(lane, 100.0 * ((i * 7 + k * 13) % 17), 1 + int(k % 2));
      if (node != next) program.copy(lane, node, next, 1000.0 * ((i + k) % 11));
    }
  }
  Simulation first = simulate(made, program), second = simulate(made, program);
  EXPECT_EQ(first.ns, second.ns);
  for (size_t lane = 0; lane < first.commands.size(); ++lane)
    for (size_t i = 0; i < first.commands[lane].size(); ++i)
      ASSERT_EQ(first.commands[lane][i].end, second.commands[lane][i].end);
}

} // namespace
