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

double sumOf(const MeasuredMemory &memory, size_t count) {
  const double *values = memory.as<double>();
  double sums[8] = {};
  for (size_t i = 0; i < count; i += 8)
    for (size_t lane = 0; lane < 8; ++lane) sums[lane] += values[i + lane];
  return sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
}

// The least seconds to read bytes that another processor wrote, of many times.
double measureCrossCore(int64_t bytes) {
  constexpr int kRounds = 400;
  MeasuredMemory memory(bytes);
  size_t count = size_t(bytes) / sizeof(double);
  Word written, read;
  double best = 1;
  std::atomic<double> sink{0};
  std::thread reader([&] {
    PinnedThread pin(1);
    for (int64_t round = 1; round <= kRounds; ++round) {
      waitFor(written, round);
      auto begin = std::chrono::steady_clock::now();
      sink.store(sumOf(memory, count), std::memory_order_relaxed);
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
      read.value.store(round, std::memory_order_release);
    }
  });
  {
    PinnedThread pin(0);
    for (int64_t round = 1; round <= kRounds; ++round) {
      std::fill_n(memory.as<double>(), count, double(round));
      written.value.store(round, std::memory_order_release);
      waitFor(read, round);
    }
  }
  reader.join();
  return best;
}

} // namespace

Link crossCoreLink() {
  constexpr int64_t kFew = 4 << 10, kMany = 64 << 10;
  double few = measureCrossCore(kFew), many = measureCrossCore(kMany);
  double perByte = std::max(many - few, many / 16) / double(kMany - kFew);
  return {std::max(few - perByte * kFew, 1e-9), 1 / perByte};
}

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
