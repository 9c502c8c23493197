// Offsets between clocks from barriers, by hand.
#include "lib/Machine/ClockOffset.h"
#include <gtest/gtest.h>
#include <vector>

using namespace sprig::machine;

// The other clock shows 1000 more. Both come and leave within some time of the moment when all are there.
TEST(ClockOffset, LiesWithinItsBound) {
  std::vector<BarrierStamps> own = {{100, 130}, {200, 260}, {300, 312}}, other;
  for (auto [came, left] : own) other.push_back({came + 1000 + 9, left + 1000 + 2});
  ClockOffset found = clockOffset(own, other);
  EXPECT_LE(std::abs(found.ns - 1000), found.errorNs);
  EXPECT_EQ(found.errorNs, (14 + 3) / 2.0); // of the shortest barrier: 1309 - 312 to 1314 - 300
  ClockOffset back = clockOffset(other, own);
  EXPECT_EQ(back.ns, -found.ns);
}

TEST(ClockOffset, WhoComesLastDoesNotCount) {
  // The other one waits 500 in each.
  std::vector<BarrierStamps> own = {{600, 610}, {1600, 1612}}, other = {{100, 612}, {1100, 1611}};
  ClockOffset found = clockOffset(own, other);
  EXPECT_LE(std::abs(found.ns), found.errorNs);
}

TEST(ClockOffset, OfNothingIsNothing) {
  EXPECT_EQ(clockOffset({}, {}).ns, 0);
  // Clocks that drift apart by more than a barrier takes.
  std::vector<BarrierStamps> own = {{0, 10}, {1000, 1010}}, other = {{0, 10}, {2000, 2010}};
  EXPECT_LT(clockOffset(own, other).errorNs, 0);
}
