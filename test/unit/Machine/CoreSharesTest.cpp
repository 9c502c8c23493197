#include "lib/Machine/CoreShares.h"
#include <gtest/gtest.h>
#include <span>
#include <string>

using namespace sprig::machine;

namespace {

std::vector<std::string> sharesOf(const std::vector<Processor> &processors, int processes) {
  std::vector<std::string> texts;
  for (const cpu_set_t &share : coreShares(processors, processes)) {
    std::string text;
    for (int number = 0; number < CPU_SETSIZE; ++number)
      if (CPU_ISSET(number, &share)) text += (text.empty() ? "" : ",") + std::to_string(number);
    texts.push_back(text);
  }
  return texts;
}

using Texts = std::vector<std::string>;

TEST(CoreShares, AreNeighboursAndTheFirstAreLarger) {
  std::vector<Processor> five = {{0, 0, 0}, {1, 0, 1}, {2, 0, 2}, {3, 0, 3}, {4, 0, 4}};
  EXPECT_EQ(sharesOf(five, 1), (Texts{"0,1,2,3,4"}));
  EXPECT_EQ(sharesOf(five, 2), (Texts{"0,1,2", "3,4"}));
  EXPECT_EQ(sharesOf(five, 5), (Texts{"0", "1", "2", "3", "4"}));
}

// As Linux numbers two sockets of two cores with two threads each.
TEST(CoreShares, HaveBothThreadsOfACore) {
  std::vector<Processor> board = {{0, 0, 0}, {1, 1, 0}, {2, 0, 1}, {3, 1, 1},
                                  {4, 0, 0}, {5, 1, 0}, {6, 0, 1}, {7, 1, 1}};
  EXPECT_EQ(sharesOf(board, 2), (Texts{"0,2,4,6", "1,3,5,7"}));
  EXPECT_EQ(sharesOf(board, 3), (Texts{"0,2,4,6", "1,5", "3,7"}));
  EXPECT_EQ(sharesOf(board, 4), (Texts{"0,4", "2,6", "1,5", "3,7"}));
  // More processes than cores: threads.
  EXPECT_EQ(sharesOf(board, 5), (Texts{"0,4", "2,6", "1,5", "3", "7"}));
}

// Nodes that are finer than sockets: a share has cores of one before those of the next.
TEST(CoreShares, KeepToANode) {
  EXPECT_EQ(sharesOf({{0, 0, 0, 0}, {1, 0, 1, 1}, {2, 0, 2, 0}, {3, 0, 3, 1}}, 2), (Texts{"0,2", "1,3"}));
}

TEST(CoreShares, AreNoneWhereThereAreFewerThanProcesses) {
  EXPECT_TRUE(coreShares({{0, 0, 0}}, 2).empty());
  EXPECT_TRUE(coreShares({}, 1).empty());
}

TEST(CoreShares, AreOfWhatThisProcessMayUse) {
  cpu_set_t usable;
  ASSERT_EQ(sched_getaffinity(0, sizeof usable, &usable), 0);
  std::span<const Processor> processors = sprig::rt::core::usableProcessors();
  EXPECT_EQ(processors.size(), size_t(CPU_COUNT(&usable)));
  for (const Processor &each : processors) EXPECT_TRUE(CPU_ISSET(each.number, &usable)) << each.number;
}

} // namespace
