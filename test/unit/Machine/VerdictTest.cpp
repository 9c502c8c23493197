#include "lib/Machine/Verdict.h"
#include <gtest/gtest.h>

using namespace sprig::machine;

namespace {

TEST(Verdict, EachMomentCountsOnceForTheFirstThatGoesOn) {
  TimeShares shares = timeShares({0, 100}, {{10, 40}, {30, 50}}, {{45, 60}, {90, 95}}, {{0, 20}, {55, 80}});
  EXPECT_EQ(shares.ns, 100);
  EXPECT_EQ(shares.computation, 40); // 10 to 50
  EXPECT_EQ(shares.copies, 15);      // 50 to 60, 90 to 95
  EXPECT_EQ(shares.data, 30);        // 0 to 10, 60 to 80
  EXPECT_EQ(shares.handOff, 15);     // 80 to 90, 95 to 100
}

TEST(Verdict, WhatLiesOutsideDoesNotCount) {
  TimeShares shares = timeShares({10, 20}, {{0, 12}, {19, 40}}, {}, {{30, 50}});
  EXPECT_EQ(shares.computation, 3);
  EXPECT_EQ(shares.data, 0);
  EXPECT_EQ(shares.handOff, 7);
}

TimeShares of(double computation, double copies, double data, double handOff) {
  return {computation + copies + data + handOff, computation, copies, data, handOff};
}

TEST(Verdict, ComputationUnlessSomethingElseTakesAFifth) {
  EXPECT_EQ(boundBy(of(95, 2, 2, 1)), Bound::computation);
  EXPECT_EQ(boundBy(of(55, 15, 15, 15)), Bound::computation);
  EXPECT_EQ(boundBy(of(60, 19.9, 10.1, 10)), Bound::computation);
  EXPECT_EQ(boundBy(of(79, 0, 21, 0)), Bound::data);
  EXPECT_EQ(boundBy(of(60, 25, 10, 5)), Bound::copies);
  EXPECT_EQ(boundBy(of(10, 30, 25, 35)), Bound::handOff);
  EXPECT_EQ(boundBy(of(10, 30, 35, 25)), Bound::data);
  EXPECT_EQ(boundBy({}), Bound::computation);
}

TEST(Verdict, SaysTheFiguresItRestsOnAndWhatHelps) {
  std::string data = verdictText(of(10, 1, 80, 9));
  for (const char *part : {"bound by data", "10 % is computation", "1 % copies", "80 % waiting for data",
                           "9 % hand-offs", "--workers", "--prefetch", "cache"})
    EXPECT_NE(data.find(part), std::string::npos) << part << " in " << data;
  EXPECT_NE(verdictText(of(90, 0, 5, 5)).find("--threads"), std::string::npos);
  EXPECT_NE(verdictText(of(20, 80, 0, 0)).find("--place"), std::string::npos);
  EXPECT_NE(verdictText(of(20, 0, 0, 80)).find("larger batch"), std::string::npos);
}

TEST(Verdict, WholePercentsAddUp) {
  EXPECT_EQ(wholePercents(std::vector<double>{1, 1, 1}), (std::vector<int>{34, 33, 33}));
  EXPECT_EQ(wholePercents(std::vector<double>{0.996, 0.004}), (std::vector<int>{100, 0}));
  EXPECT_EQ(wholePercents(std::vector<double>{5, 0, 15}), (std::vector<int>{25, 0, 75}));
  EXPECT_EQ(wholePercents(std::vector<double>{0, 0}), (std::vector<int>{0, 0}));
  EXPECT_EQ(wholePercents(std::vector<double>{1.5, 1.5, 1.5, 95.5}), (std::vector<int>{2, 2, 1, 95}));
}

// Computation hides it, and it hides copies and waits.
TEST(Verdict, CommunicationOfRanksIsAKindOfItsOwn) {
  TimeShares shares = timeShares({0, 100}, {{0, 30}}, {{50, 65}}, {{60, 80}}, {{20, 60}});
  EXPECT_EQ(shares.communication, 30);
  EXPECT_EQ(shares.copies, 5);
  EXPECT_EQ(shares.data, 15);
  EXPECT_EQ(shares.handOff, 20);
  EXPECT_EQ(boundBy(shares), Bound::communication);
  std::string text = verdictText(shares);
  for (const char *part : {"bound by communication", "30 % communication of ranks that none hides", "accumulate"})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in " << text;
  EXPECT_EQ(verdictText(of(1, 0, 0, 0)).find("ranks"), std::string::npos);
}

TEST(Verdict, AddsUpOverStretches) {
  TimeShares sum = of(1, 2, 3, 4);
  sum += of(9, 8, 7, 6);
  EXPECT_EQ(sum.ns, 40);
  EXPECT_EQ(sum.of(sum.computation), 0.25);
  EXPECT_EQ(sum.data, 10);
}

TEST(Verdict, PressureHasTwoThresholds) {
  EXPECT_EQ(pressureOf(0), Pressure::starved);
  EXPECT_EQ(pressureOf(0.799), Pressure::starved);
  EXPECT_EQ(pressureOf(0.8), Pressure::between);
  EXPECT_EQ(pressureOf(0.9), Pressure::between);
  EXPECT_EQ(pressureOf(0.901), Pressure::saturated);
  EXPECT_STREQ(nameOf(Pressure::starved), "starved");
}

} // namespace
