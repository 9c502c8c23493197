// A calibration is the best of its sweeps, and knows how far they were apart and what others did meanwhile.
#include "lib/Machine/Calibrate.h"
#include <gtest/gtest.h>

using namespace sprig::machine;

namespace {

Calibration sweep() {
  Calibration found;
  found.threads = 2;
  found.fmaFlops = 100e9;
  found.fmaFlopsAll = 200e9;
  found.levels = {{1, 32768, 2, 200e9, 400e9, 100e9, 200e9}, {0, 0, 0, 20e9, 30e9, 10e9, 15e9}};
  found.handOffSeconds = 200e-9;
  found.crossCore = {300e-9, 20e9};
  found.latency = {{4096, 1}, {1 << 26, 100}};
  return found;
}

TEST(Steadiness, EachFigureIsTheBestOfAllSweeps) {
  Calibration one = sweep(), two = sweep(), three = sweep();
  one.fmaFlops = 80e9;
  two.levels[1].read = 25e9;
  two.levels[0].copy = 100e9;
  three.latency[1].ns = 90;
  three.handOffSeconds = 300e-9;
  // Quicker to begin with, but slow for many lines: not taken in parts.
  three.crossCore = {100e-9, 1e9};
  Calibration best = bestOf(std::vector{one, two, three});
  EXPECT_EQ(best.fmaFlops, 100e9);
  EXPECT_EQ(best.levels[1].read, 25e9);
  EXPECT_EQ(best.levels[0].copy, 200e9);
  EXPECT_EQ(best.handOffSeconds, 200e-9);
  EXPECT_EQ(best.crossCore.latency, 300e-9);
  EXPECT_EQ(best.crossCore.bytesPerSecond, 20e9);
  EXPECT_DOUBLE_EQ(best.randomSeconds, 90e-9);
  EXPECT_EQ(best.cacheKnees, std::vector<int64_t>{4096});
}

TEST(Steadiness, TheBestTwoSweepsSayHowFarAFigureIsKnown) {
  EXPECT_TRUE(widestSpread(std::vector{sweep()}).first.empty());
  Calibration slow = sweep(), quick = sweep();
  slow.levels[0].read = 50e9;
  // One that was disturbed is outvoted by two that were not.
  EXPECT_EQ(widestSpread(std::vector{sweep(), slow, sweep()}).second, 0);
  EXPECT_NEAR(widestSpread(std::vector{sweep(), slow}).second, 3, 1e-12);
  quick.levels[1].readAll = 33e9;
  auto [figure, spread] = widestSpread(std::vector{sweep(), quick, sweep()});
  EXPECT_EQ(figure, "read memory with all threads");
  EXPECT_NEAR(spread, 0.1, 1e-12);
}

TEST(Steadiness, OthersDisturb) {
  Steadiness steadiness{3, 6, 0, 0, "read L3", 0.05};
  EXPECT_TRUE(steadiness.isSteady());
  steadiness.spread = 0.06;
  EXPECT_FALSE(steadiness.isSteady());
  steadiness.spread = 0;
  steadiness.othersShare = 0.06;
  EXPECT_TRUE(steadiness.isSteady());
  steadiness.stolenShare = 0.05;
  EXPECT_FALSE(steadiness.isSteady());
}

TEST(Steadiness, TheSteadierIsTheOneThatIsLessSpreadOrDisturbed) {
  Steadiness good{3, 6, 0, 0, "read L3", 0.07}, spread{8, 10, 0, 0, "hand-off", 0.17}, once{1, 2, 0, 0, "", 0};
  EXPECT_TRUE(good.isSteadierThan(spread));
  EXPECT_FALSE(spread.isSteadierThan(good));
  EXPECT_FALSE(good.isSteadierThan(good));
  Steadiness disturbed = good;
  disturbed.othersShare = 0.5;
  EXPECT_TRUE(spread.isSteadierThan(disturbed));
  // Of one sweep nothing is known.
  EXPECT_TRUE(disturbed.isSteadierThan(once));
  EXPECT_FALSE(once.isSteadierThan(disturbed));
}

TEST(Steadiness, TicksOfTheProcessors) {
  auto ticks = processorTicks("cpu  10 20 30 400 5 6 7 80 9 0\ncpu0 1 1 1 1 1 1 1 1 1 1\n");
  ASSERT_TRUE(ticks);
  EXPECT_EQ(ticks->busy, 10u + 20 + 30 + 6 + 7);
  EXPECT_EQ(ticks->stolen, 80u);
  EXPECT_EQ(ticks->all, 10u + 20 + 30 + 400 + 5 + 6 + 7 + 80);
  EXPECT_FALSE(processorTicks(""));
  EXPECT_FALSE(processorTicks("cpu 1 2 3"));
  EXPECT_FALSE(processorTicks("intr 1 2 3 4 5 6 7 8"));
}

} // namespace
