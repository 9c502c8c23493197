#include "lib/Machine/HandOff.h"
#include "lib/Machine/Rates.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <immintrin.h>
#include <thread>
#include <vector>

namespace sprig::machine {
namespace {

struct alignas(64) Word {
  std::atomic<int64_t> value{0};
};

// Where the other thread does not run, waiting for it must let it.
void waitFor(const Word &word, int64_t value) {
  for (int spins = 0; word.value.load(std::memory_order_acquire) != value; ++spins)
    spins < 20000 ? _mm_pause() : std::this_thread::yield();
}

} // namespace

double handOffSeconds() {
  constexpr int kTrips = 200, kRounds = 200;
  Word there, back;
  // A new thread inherits where its maker may run: pin this one afterwards.
  std::thread other([&] {
    PinnedThread pin(1);
    for (int64_t i = 1; i <= int64_t(kTrips) * kRounds; ++i) {
      waitFor(there, i);
      back.value.store(i, std::memory_order_release);
    }
  });
  PinnedThread pin(0);
  int64_t at = 0;
  double best = quickestRound(1, kRounds, [&](int) {
    for (int i = 0; i < kTrips; ++i) {
      there.value.store(++at, std::memory_order_release);
      waitFor(back, at);
    }
  });
  other.join();
  return best / kTrips;
}

CountingCost countingCost(int threads) {
  constexpr int64_t kCounts = 20000;
  std::vector<Word> lines(static_cast<size_t>(threads) + 1);
  struct alignas(64) Shared {
    std::atomic<int64_t> words[8];
  };
  std::vector<Shared> shared(size_t(threads) / 8 + 1);
  auto count = [](std::atomic<int64_t> &word) {
    for (int64_t i = 0; i < kCounts; ++i) word.fetch_add(1, std::memory_order_relaxed);
  };
  CountingCost cost;
  cost.sameLine = quickestRound(threads, 40, [&](int t) { count(shared[size_t(t) / 8].words[size_t(t) % 8]); });
  cost.ownLines = quickestRound(threads, 40, [&](int t) { count(lines[size_t(t)].value); });
  cost.sameLine /= kCounts;
  cost.ownLines /= kCounts;
  return cost;
}

} // namespace sprig::machine
