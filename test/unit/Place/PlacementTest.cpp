// Placement by cost as plain data: what is pinned stays, copies are made where they save more than they cost, and no
// choice is worse than everything on the first device.
#include "lib/Place/Placement.h"
#include <gtest/gtest.h>
#include <random>

using namespace sprig::place;

namespace {

struct Builder {
  PlacementProblem problem;
  explicit Builder(unsigned devices, double copy = 1) {
    problem.devices = devices;
    problem.copyLatency = copy;
    problem.copyBytesPerSecond = 1e9;
  }
  // An operation of its own unit; the value that it gives.
  unsigned add(double seconds, std::vector<unsigned> reads, std::optional<unsigned> pin = {}) {
    unsigned number = unsigned(problem.operations.size()), value = unsigned(problem.values.size());
    problem.units.push_back({pin, std::vector<double>(problem.devices, seconds), 1});
    problem.operations.push_back({number, std::move(reads), {value}});
    problem.values.push_back({100, number, PlacementProblem::kNone});
    return value;
  }
};

TEST(Placement, BranchesGoApartWhereThatPays) {
  for (double copy : {1.0, 9.0, 11.0, 30.0}) {
    Builder b(2, copy);
    unsigned x = b.add(1, {});
    b.add(10, {x});
    b.add(10, {x});
    Placer placer(b.problem);
    std::vector<unsigned> devices = placer.choose();
    // 1 + 10 + 10 alone; apart 1 + copy + 10.
    EXPECT_EQ(devices[1] != devices[2], copy < 10) << copy;
    EXPECT_NEAR(placer.play(devices).seconds, copy < 10 ? 11 + copy : 21, 1e-3);
  }
}

TEST(Placement, AJoinCountsTheCopyBack) {
  Builder b(2, 3);
  unsigned x = b.add(1, {}), left = b.add(10, {x}), right = b.add(5, {x});
  b.add(1, {left, right});
  Placer placer(b.problem);
  // Alone 17; apart 1 + 3 + 10 + 1, with the copy of x before the longer branch, or behind it the copy back.
  std::vector<unsigned> devices = placer.choose();
  EXPECT_LT(placer.play(devices).seconds, 17);
  b.problem.copyLatency = 6;
  EXPECT_EQ(Placer(b.problem).choose(), std::vector<unsigned>(4, 0));
}

TEST(Placement, AChainStaysTogetherBehindItsPin) {
  Builder b(3, 2);
  unsigned x = b.add(1, {});
  for (int i = 0; i < 5; ++i) x = b.add(1, {x}, i == 2 ? std::optional<unsigned>(2) : std::nullopt);
  std::vector<unsigned> devices = Placer(b.problem).choose();
  EXPECT_EQ(devices[3], 2u);
  // One copy at most: what follows the pin has no reason to come back.
  EXPECT_LE(Placer(b.problem).play(devices).copies, 1);
}

TEST(Placement, CopiesOverALinkGoBesideWhatIsComputed) {
  // The first device computes four values, the second takes each; without a link the copies are the first one's work.
  Builder b(2, 3);
  for (int i = 0; i < 4; ++i) b.add(1, {b.add(2, {}, 0)}, 1);
  std::vector<unsigned> devices(8);
  for (unsigned i = 0; i < 8; ++i) devices[i] = i % 2;
  EXPECT_NEAR(Placer(b.problem).play(devices).seconds, 4 * (2 + 3) + 1, 1e-3);
  b.problem.links.resize(4);
  b.problem.links[0 * 2 + 1] = sprig::machine::Link{1, 1e9};
  EXPECT_NEAR(Placer(b.problem).play(devices).seconds, 4 * 2 + 1 + 1, 1e-3);
  // The link is busy longer than the device: one copy after the other.
  b.problem.links[0 * 2 + 1] = sprig::machine::Link{3, 1e9};
  EXPECT_NEAR(Placer(b.problem).play(devices).seconds, 2 + 4 * 3 + 1, 1e-3);
}

TEST(Placement, ParametersLiveWhereTheyAreUpdated) {
  Builder b(2, 1);
  PlacementProblem &problem = b.problem;
  problem.params.resize(2);
  problem.values.push_back({100, PlacementProblem::kNone, 0});
  problem.values.push_back({100, PlacementProblem::kNone, 1});
  b.add(1, {0, 1}, 0);
  unsigned updated = b.add(1, {0}, 1);
  problem.params[0].newValue = updated;
  std::vector<unsigned> devices = {0, 1};
  Placer placer(problem);
  EXPECT_EQ(placer.homes(devices), (std::vector<unsigned>{1, 0}));
  // The first reads a copy.
  EXPECT_EQ(placer.play(devices).copies, 1);
  problem.params[0].home = 0;
  // The second does, and its result is copied home.
  EXPECT_EQ(placer.play(devices).copies, 2);
}

TEST(Placement, IsNeverWorseThanTheFirstDeviceAlone) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    auto below = [&](unsigned n) { return unsigned(random() % n); };
    Builder b(2 + below(3), 0.1 * below(30));
    std::vector<unsigned> values;
    for (unsigned i = 0, count = 2 + below(40); i < count; ++i) {
      std::vector<unsigned> reads;
      for (unsigned k = 0; k < 2 && !values.empty(); ++k)
        if (unsigned value = values[below(unsigned(values.size()))]; reads.empty() || reads[0] != value)
          reads.push_back(value);
      std::optional<unsigned> pin;
      if (below(8) == 0) pin = below(b.problem.devices);
      values.push_back(b.add(0.1 * below(50), reads, pin));
    }
    Placer placer(b.problem);
    std::vector<unsigned> devices = placer.choose();
    ASSERT_LE(placer.play(devices).seconds, placer.play(placer.onFirst()).seconds * (1 + 1e-9)) << seed;
    for (size_t i = 0; i < devices.size(); ++i)
      if (b.problem.units[i].pin) ASSERT_EQ(devices[i], *b.problem.units[i].pin);
    ASSERT_EQ(devices, Placer(b.problem).choose());
  }
}

} // namespace
