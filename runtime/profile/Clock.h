// The clock of profiles: the processor's time-stamp counter where it runs at one rate, else the system's clock. Ticks
// are cheap to take on any thread; they become nanoseconds of the system's monotonic clock when they are read out.
#ifndef SPRIG_RUNTIME_PROFILE_CLOCK_H
#define SPRIG_RUNTIME_PROFILE_CLOCK_H

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace sprig::rt::core {

// Nanoseconds of CLOCK_MONOTONIC.
uint64_t systemNanoseconds();

// Whether the counter runs at one rate on all processors whatever they do.
extern const bool counterIsClock;

inline uint64_t ticks() {
#if defined(__x86_64__)
  if (counterIsClock) [[likely]]
    return __rdtsc();
#endif
  return systemNanoseconds();
}

// Turns ticks into nanoseconds by two moments at which both clocks were read.
class ClockScale {
public:
  ClockScale();
  // Measures the rate from the start until now. Waits until that has been a millisecond.
  void measure();
  // From the start until now, without waiting.
  double ticksPerNs() const;
  uint64_t nanoseconds(uint64_t tick) const {
    // Signed: events may be older than the start.
    return startNs + uint64_t(int64_t(double(int64_t(tick - startTick)) * nsPerTick));
  }

private:
  uint64_t startTick = 0;
  uint64_t startNs = 0;
  double nsPerTick = 1;
};

} // namespace sprig::rt::core

#endif
