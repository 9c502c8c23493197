// The queue on a simulated clock keeps the timeline law and the bound, for the host being quicker and slower.
#include "lib/Machine/CallQueue.h"
#include <gtest/gtest.h>
#include <random>

using namespace sprig::machine;

namespace {

double together(CallTimes times, int64_t calls, int64_t bound) {
  CallQueue queue(times, bound);
  for (int64_t i = 0; i < calls; ++i) queue.call();
  queue.read();
  return queue.now();
}

} // namespace

TEST(CallQueue, IssueIsHiddenWhereItIsQuicker) {
  // t1 + 10000 t2 + t3
  EXPECT_EQ(together({3, 50, 7}, 10000, 32), 3 + 10000 * 50 + 7);
  EXPECT_EQ(together({50, 50, 7}, 10000, 32), 50 + 10000 * 50 + 7);
}

TEST(CallQueue, ComputingIsHiddenWhereIssueIsSlower) {
  // 10000 t1 + t2 + t3
  EXPECT_EQ(together({50, 3, 7}, 10000, 32), 10000 * 50 + 3 + 7);
}

TEST(CallQueue, ReadingEachAddsEverythingUp) {
  CallQueue queue({3, 50, 7}, 32);
  for (int i = 0; i < 10000; ++i) {
    queue.call();
    queue.read();
  }
  EXPECT_EQ(queue.now(), 10000 * (3 + 50 + 7));
  EXPECT_EQ(queue.now(), CallQueue::synchronousLaw({3, 50, 7}, 10000));
  EXPECT_EQ(queue.mostInFlight(), 1);
}

TEST(CallQueue, LawHoldsForAnyTimesAndAnyBound) {
  std::mt19937 random(1);
  for (int i = 0; i < 2000; ++i) {
    CallTimes times{double(random() % 100), double(1 + random() % 100), double(random() % 100)};
    int64_t calls = 1 + random() % 200, bound = 1 + random() % 40;
    EXPECT_EQ(together(times, calls, bound), CallQueue::law(times, calls))
        << times.issue << " " << times.compute << " " << times.read << ", " << calls << " calls, bound " << bound;
  }
}

TEST(CallQueue, BoundHoldsAndTheHostWaitsForIt) {
  CallQueue queue({1, 10, 1}, 4);
  for (int i = 0; i < 1000; ++i) queue.call();
  EXPECT_EQ(queue.mostInFlight(), 4);
  // The host is never further ahead than the bound: all but its own time and four calls were waited for.
  EXPECT_EQ(queue.waitedForRoom(), 1 + (1000 - 4) * 10 - 1000);
  CallQueue wide({1, 10, 1}, 2000);
  for (int i = 0; i < 1000; ++i) wide.call();
  EXPECT_EQ(wide.waitedForRoom(), 0);
  EXPECT_EQ(wide.mostInFlight(), 1000 - 99); // 99 calls are done when the last is issued, at 1000
}
