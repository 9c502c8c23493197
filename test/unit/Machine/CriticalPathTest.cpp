#include "lib/Machine/CriticalPath.h"
#include <gtest/gtest.h>

using namespace sprig::machine;

namespace {

using Indices = std::vector<uint32_t>;

TEST(CriticalPath, IsTheLongestChainOfADiamond) {
  //      0 (10)
  //  1 (5)   2 (7)
  //      3 (1)          4 (12): alone
  CriticalPath path = criticalPath({{10, {}}, {5, {0}}, {7, {0}}, {1, {1, 2}}, {12, {}}});
  EXPECT_EQ(path.ns, 18);
  EXPECT_EQ(path.work, (Indices{0, 2, 3}));
}

TEST(CriticalPath, OfWorkThatDoesNotDependIsTheLongest) {
  CriticalPath path = criticalPath({{3, {}}, {9, {}}, {4, {}}, {9, {}}});
  EXPECT_EQ(path.ns, 9);
  EXPECT_EQ(path.work, (Indices{1}));
}

TEST(CriticalPath, LeavesOutWhatTakesNoTime) {
  CriticalPath path = criticalPath({{2, {}}, {0, {0}}, {3, {1}}});
  EXPECT_EQ(path.ns, 5);
  EXPECT_EQ(path.work, (Indices{0, 2}));
}

TEST(CriticalPath, OfNothing) {
  EXPECT_EQ(criticalPath({}).ns, 0);
  EXPECT_TRUE(criticalPath({{0, {}}}).work.empty());
}

TEST(CriticalPath, OfALongChainIsAllOfIt) {
  std::vector<DependentWork> work(10000, {1, {}});
  for (uint32_t i = 1; i < work.size(); ++i) work[i].after = {i - 1};
  EXPECT_EQ(criticalPath(work).ns, 10000);
  EXPECT_EQ(criticalPath(work).work.size(), 10000u);
}

} // namespace
