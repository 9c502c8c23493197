// What ranks spend their time on, by hand.
#include "lib/Machine/RankTimes.h"
#include <gtest/gtest.h>

using namespace sprig::machine;

TEST(RankTimes, AddUpAndNameTheStraggler) {
  // Rank 1 comes 30 later to the first sum; the second lies beside computation for 10 of its 20.
  RankSpans quick{{{0, 50}, {100, 110}}, {{50, 90}, {100, 120}}}, slow{{{0, 80}, {100, 110}}, {{80, 90}, {100, 120}}};
  RanksTime time = ranksTime({0, 130}, {quick, slow});
  ASSERT_EQ(time.ranks.size(), 2u);
  EXPECT_EQ(time.ranks[0].computing, 60);
  EXPECT_EQ(time.ranks[0].communicating, 60);
  EXPECT_EQ(time.ranks[0].exposed, 50);
  EXPECT_EQ(time.ranks[0].waiting, 30);
  EXPECT_EQ(time.ranks[0].idle, 20);
  EXPECT_EQ(time.ranks[1].computing, 90);
  EXPECT_EQ(time.ranks[1].exposed, 20);
  EXPECT_EQ(time.ranks[1].waiting, 0);
  EXPECT_EQ(time.straggler, 1);
  EXPECT_EQ(time.stragglerNs, 30);
}

TEST(RankTimes, RanksThatComeTogetherHaveNone) {
  RankSpans rank{{{0, 50}}, {{50, 90}}};
  RanksTime time = ranksTime({0, 90}, {rank, rank, rank});
  EXPECT_EQ(time.straggler, -1);
  EXPECT_EQ(time.ranks[2].idle, 0);
  EXPECT_EQ(ranksTime({0, 90}, {rank}).straggler, -1);
  EXPECT_TRUE(ranksTime({0, 90}, {}).ranks.empty());
}

// A rank that did not come to the last one, and spans beyond the time that counts.
TEST(RankTimes, CountsWithinTheTime) {
  RankSpans most{{{-10, 20}}, {{20, 30}, {40, 200}}}, least{{{0, 10}}, {{10, 30}}};
  RanksTime time = ranksTime({0, 100}, {most, least});
  EXPECT_EQ(time.ranks[0].computing, 20);
  EXPECT_EQ(time.ranks[0].communicating, 70);
  EXPECT_EQ(time.ranks[1].waiting, 10);
  EXPECT_EQ(time.ranks[1].idle, 70);
}
