// Ranks of a group as threads of a test, and what they are told. For the tests of entries of several ranks.
#ifndef SPRIG_RUNTIME_TEST_RANKTHREADS_H
#define SPRIG_RUNTIME_TEST_RANKTHREADS_H

#include "sprig/rt/sprig_rt.hpp"

#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace sprig::rt::test {

using RankBody = std::function<void(uint32_t rank, const Group &group)>;

// What the ranks of a group do, each on a thread of its own; `collectiveThreads` as sprig_rt_group_options has it.
inline void onRanks(uint32_t ranks, int collectiveThreads, const RankBody &body,
                    std::chrono::milliseconds timeout = std::chrono::minutes(1)) {
  std::vector<Group> groups = Group::threads(ranks, timeout, collectiveThreads);
  std::vector<std::thread> threads;
  for (uint32_t rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      body(rank, groups[rank]);
      groups[rank] = Group();
    });
  for (std::thread &thread : threads) thread.join();
}

inline void onRanks(uint32_t ranks, const RankBody &body, std::chrono::milliseconds timeout = std::chrono::minutes(1)) {
  onRanks(ranks, 0, body, timeout);
}

// What an action throws.
std::string messageOf(auto action) {
  try {
    action();
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

} // namespace sprig::rt::test

#endif
