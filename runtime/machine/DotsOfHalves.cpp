#include "runtime/machine/DotsOfHalves.h"

#if defined(__x86_64__)
#include <algorithm>
#include <chrono>
#include <immintrin.h>
#endif

namespace sprig::rt::core {

#if defined(__x86_64__)
namespace {

constexpr int kChains = 10, kSteps = 64; // chains hide the latency

__attribute__((target("avx512f,avx512bf16"))) void dots() {
  __m512 sums[kChains] = {};
  __m512bh a = {}, b = {};
  asm volatile("" : "+v"(a), "+v"(b));
  for (int step = 0; step < kSteps; ++step) {
#pragma clang loop unroll(full)
    for (__m512 &sum : sums) {
      sum = _mm512_dpbf16_ps(sum, a, b);
      asm volatile("" : "+v"(sum));
    }
  }
}

__attribute__((target("avx512f"))) void multiplyAdds() {
  __m512 sums[kChains] = {};
  __m512 a = {}, b = {};
  asm volatile("" : "+v"(a), "+v"(b));
  for (int step = 0; step < 2 * kSteps; ++step) {
#pragma clang loop unroll(full)
    for (__m512 &sum : sums) {
      sum = _mm512_fmadd_ps(a, b, sum);
      asm volatile("" : "+v"(sum));
    }
  }
}

bool measure() {
  using Clock = std::chrono::steady_clock;
  auto timeOf = [](void (*run)(), Clock::duration &least) {
    Clock::time_point begin = Clock::now();
    run();
    least = std::min(least, Clock::now() - begin);
  };
  Clock::duration ofDots = Clock::duration::max(), ofMultiplyAdds = ofDots;
  constexpr int kRounds = 12;
  for (int round = 0; round < kRounds; ++round) {
    timeOf(dots, ofDots);
    timeOf(multiplyAdds, ofMultiplyAdds);
  }
  return ofDots < ofMultiplyAdds;
}

} // namespace
#else
static bool measure() { return false; }
#endif

bool dotsOfHalvesPay() {
  static const bool pays = measure();
  return pays;
}

} // namespace sprig::rt::core
