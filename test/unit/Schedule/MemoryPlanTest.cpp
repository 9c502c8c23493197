#include "lib/Schedule/MemoryPlan.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace sprig;

namespace {

using Requests = std::vector<MemoryRequest>;

// Places are aligned, inside of the arena, and no two buffers that are alive together share a byte.
void expectSound(const Requests &requests, const MemoryPlan &plan) {
  ASSERT_EQ(plan.offsets.size(), requests.size());
  int64_t end = 0;
  for (size_t a = 0; a < requests.size(); ++a) {
    if (requests[a].bytes == 0) continue;
    EXPECT_EQ(plan.offsets[a] % 64, 0);
    end = std::max(end, plan.offsets[a] + requests[a].bytes);
    for (size_t b = 0; b < a; ++b) {
      bool together = requests[a].first <= requests[b].last && requests[b].first <= requests[a].last;
      bool apart = plan.offsets[a] + requests[a].bytes <= plan.offsets[b] ||
                   plan.offsets[b] + requests[b].bytes <= plan.offsets[a];
      EXPECT_TRUE(!together || apart || requests[b].bytes == 0) << a << " and " << b;
    }
  }
  EXPECT_LE(end, plan.bytes);
  EXPECT_LT(plan.bytes - end, 64);
  EXPECT_GE(plan.bytes, plan.lowerBound);
}

Requests chain(int64_t layers, int64_t bytes) {
  Requests requests;
  for (int64_t i = 0; i < layers; ++i) requests.push_back({bytes, i, i + 1});
  return requests;
}

// The smallest arena over all orders, by brute force.
int64_t optimum(Requests requests) {
  for (auto &r : requests) r.bytes = (r.bytes + 63) / 64 * 64;
  std::vector<size_t> order(requests.size());
  std::iota(order.begin(), order.end(), 0);
  int64_t best = INT64_MAX;
  do {
    std::vector<int64_t> at(requests.size(), -1);
    int64_t top = 0;
    for (size_t i : order) {
      int64_t place = 0;
      for (bool moved = true; moved;) {
        moved = false;
        for (size_t j : order) {
          if (at[j] < 0 || requests[i].first > requests[j].last || requests[j].first > requests[i].last) continue;
          if (place < at[j] + requests[j].bytes && at[j] < place + requests[i].bytes) {
            place = at[j] + requests[j].bytes;
            moved = true;
          }
        }
      }
      at[i] = place;
      top = std::max(top, place + requests[i].bytes);
    }
    best = std::min(best, top);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

TEST(MemoryPlan, AChainTakesTwoBuffersHoweverLong) {
  for (int64_t layers : {2, 10, 100, 1000}) {
    Requests requests = chain(layers, 1000);
    MemoryPlan plan = planMemory(requests, 64);
    expectSound(requests, plan);
    EXPECT_EQ(plan.bytes, 2 * 1024) << layers;
  }
}

TEST(MemoryPlan, NothingTakesNothing) {
  EXPECT_EQ(planMemory({}, 64).bytes, 0);
  Requests empty = {{0, 0, 3}, {0, 1, 2}};
  EXPECT_EQ(planMemory(empty, 64).bytes, 0);
}

// Apart in one order of the lanes, together in another.
TEST(MemoryPlan, WhatMayMeetSharesNothing) {
  Requests requests = {{64, 0, 0}, {64, 1, 1}, {64, 2, 2}};
  EXPECT_EQ(planMemory(requests, 64).bytes, 64);
  auto mayMeet = [](size_t a, size_t b) { return a + b == 1; };
  MemoryPlan plan = planMemory(requests, 64, mayMeet);
  expectSound(requests, plan);
  EXPECT_NE(plan.offsets[0], plan.offsets[1]);
  EXPECT_EQ(plan.bytes, 2 * 64);
}

TEST(MemoryPlan, FewBuffersArePlacedBestOfAll) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 60; ++round) {
    Requests requests;
    for (int i = 0; i < 6; ++i) {
      int64_t first = int64_t(random() % 8);
      requests.push_back({int64_t(random() % 2000) + 1, first, first + int64_t(random() % 4)});
    }
    MemoryPlan plan = planMemory(requests, 64);
    expectSound(requests, plan);
    EXPECT_EQ(plan.bytes, optimum(requests)) << "round " << round;
  }
}

TEST(MemoryPlan, RandomGraphsComeNearTheLowerBound) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 30; ++round) {
    Requests requests;
    // Chains with side branches, sizes halving and doubling as in networks.
    int64_t bytes = 1 << 16;
    for (int64_t i = 0; i < 60; ++i) {
      if (random() % 4 == 0) bytes = std::clamp<int64_t>(random() % 2 ? bytes / 2 : bytes * 2, 256, 1 << 20);
      requests.push_back(
          {bytes + int64_t(random() % 100), i, i + 1 + (random() % 5 == 0 ? int64_t(random() % 12) : 0)});
    }
    MemoryPlan plan = planMemory(requests, 64);
    expectSound(requests, plan);
    EXPECT_LE(double(plan.bytes), 1.1 * double(plan.lowerBound)) << "round " << round;
  }
}

TEST(MemoryPlan, ThousandsThatAreAliveTogetherAreNeitherPairedNorWasted) {
  Requests joined;
  for (int64_t i = 0; i < 10'000; ++i) joined.push_back({i % 7 * 100 + 1, i, 10'000});
  EXPECT_EQ(planMemory(joined, 64).bytes, planMemory(joined, 64).lowerBound);
  std::mt19937_64 random(4);
  Requests mixed;
  for (int64_t i = 0; i < 6'000; ++i)
    mixed.push_back({int64_t(random() % 5000) + 1, i, i + int64_t(random() % (i % 3 ? 10 : 6'000))});
  MemoryPlan plan = planMemory(mixed, 64);
  expectSound(mixed, plan);
  EXPECT_LE(double(plan.bytes), 1.3 * double(plan.lowerBound));
}

TEST(MemoryPlan, TheSameRequestsGiveTheSamePlan) {
  std::mt19937_64 random(9);
  Requests requests;
  for (int64_t i = 0; i < 200; ++i) {
    int64_t first = int64_t(random() % 100);
    requests.push_back({int64_t(random() % 5000), first, first + int64_t(random() % 30)});
  }
  MemoryPlan once = planMemory(requests, 64), again = planMemory(requests, 64);
  expectSound(requests, once);
  EXPECT_EQ(once.offsets, again.offsets);
}

} // namespace
