#include "lib/Machine/Latency.h"
#include <gtest/gtest.h>

using namespace sprig::machine;

namespace {

// A machine with caches of 32K and 1M, two points a doubling.
std::vector<LatencyPoint> steps() {
  std::vector<LatencyPoint> points;
  for (int64_t base = 4 << 10; base <= 8 << 20; base *= 2)
    for (int64_t set : {base, base * 3 / 2})
      points.push_back({set, set <= 32 << 10 ? 1.3 : set <= 1 << 20 ? 4.0 : 15.0});
  return points;
}

TEST(Latency, KneesAreTheCaches) { EXPECT_EQ(findKnees(steps()), (std::vector<int64_t>{32 << 10, 1 << 20})); }

TEST(Latency, ADisturbedPointIsNoKnee) {
  auto points = steps();
  points[3].ns = 40;
  points[9].ns = 9;
  EXPECT_EQ(findKnees(points), (std::vector<int64_t>{32 << 10, 1 << 20}));
}

TEST(Latency, AGradualRiseCountsOnceAtItsMiddle) {
  std::vector<LatencyPoint> points = {{4096, 4},  {8192, 4},    {16384, 5},  {32768, 6.5},
                                      {65536, 9}, {131072, 12}, {262144, 12}};
  EXPECT_EQ(findKnees(points), (std::vector<int64_t>{32768}));
}

TEST(Latency, FlatHasNone) {
  EXPECT_TRUE(findKnees({{4096, 1.3}, {8192, 1.31}, {16384, 1.3}}).empty());
  EXPECT_TRUE(findKnees({}).empty());
}

TEST(Latency, ALargerSetTakesLonger) {
  // A hundred times the first cache and more: no noise hides that.
  EXPECT_LT(chaseSeconds(8 << 10), chaseSeconds(16 << 20));
}

} // namespace
