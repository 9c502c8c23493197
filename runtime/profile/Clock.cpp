#include "runtime/profile/Clock.h"

#include <algorithm>
#include <ctime>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace sprig::rt::core {

uint64_t systemNanoseconds() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return uint64_t(now.tv_sec) * 1'000'000'000 + uint64_t(now.tv_nsec);
}

static bool counterIsInvariant() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d >> 8 & 1);
#else
  return false;
#endif
}

const bool counterIsClock = counterIsInvariant();

namespace {
// Both clocks at one moment: the closest of a few tries, as the thread may be interrupted between two readings.
struct Moment {
  uint64_t tick, ns;
  static Moment now() {
    Moment best = {};
    uint64_t closest = UINT64_MAX;
    for (int i = 0; i < 8; ++i) {
      uint64_t before = ticks(), ns = systemNanoseconds(), after = ticks();
      if (after - before >= closest) continue;
      closest = after - before;
      best = {before + (after - before) / 2, ns};
    }
    return best;
  }
};
} // namespace

ClockScale::ClockScale() {
  Moment start = Moment::now();
  startTick = start.tick;
  startNs = start.ns;
}

void ClockScale::measure() {
  if (!counterIsClock) return;
  while (systemNanoseconds() - startNs < 1'000'000) {
  }
  Moment now = Moment::now();
  nsPerTick = double(now.ns - startNs) / double(now.tick - startTick);
}

double ClockScale::ticksPerNs() const {
  if (!counterIsClock) return 1;
  Moment now = Moment::now();
  return double(now.tick - startTick) / double(std::max<uint64_t>(1, now.ns - startNs));
}

} // namespace sprig::rt::core
