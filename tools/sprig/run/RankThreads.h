// What all ranks of this process do side by side, each on a thread of its own, the first on the caller's.
#pragma once
#include "tools/sprig/run/Runner.h"
#include <atomic>
#include <exception>
#include <span>
#include <system_error>
#include <thread>
#include <vector>

namespace sprig::cli {

/// `body` gets a rank's number. Who throws ends the group, since the others may wait for it; what was thrown first is
/// thrown here when all have ended. Throws Error where there is no thread for a rank.
template <typename Body> void onRankThreads(std::span<Runner> runners, Body body) {
  std::vector<std::exception_ptr> failures(runners.size());
  std::atomic<int> firstFailed = -1;
  auto runOne = [&](size_t rank) {
    try {
      body(rank);
    } catch (const std::exception &error) {
      failures[rank] = std::current_exception();
      int none = -1;
      firstFailed.compare_exchange_strong(none, int(rank));
      runners[rank].failGroup(error.what());
    }
  };
  std::vector<std::thread> threads;
  std::string noThread;
  try {
    for (size_t rank = 1; rank < runners.size(); ++rank) threads.emplace_back(runOne, rank);
    runOne(0);
  } catch (const std::system_error &error) {
    size_t rank = threads.size() + 1;
    noThread =
        "no thread for rank " + std::to_string(rank) + " of " + std::to_string(runners.size()) + ": " + error.what();
    runners[rank].failGroup(noThread);
  }
  for (std::thread &thread : threads) thread.join();
  if (!noThread.empty()) runtimeError(noThread);
  if (int rank = firstFailed; rank >= 0) std::rethrow_exception(failures[size_t(rank)]);
}

} // namespace sprig::cli
