// How shares of the processor (cpu:0, cpu:1, ...) divide the threads of a pool: as evenly as can be, the first ones
// have one more. Where there are fewer threads than shares, several have one thread between them. For the runtime, and
// for who predicts it: placement and the simulator.
#ifndef SPRIG_RUNTIME_MACHINE_THREADSHARES_H
#define SPRIG_RUNTIME_MACHINE_THREADSHARES_H

#include <algorithm>
#include <cstdint>

namespace sprig::rt::core {

struct ThreadShares {
  uint32_t threads = 1; // of the pool; numbered, the caller of a run is 0
  uint32_t shares = 1;

  uint32_t threadsOf(uint32_t share) const {
    return std::max(1u, threads / shares + uint32_t(share < threads % shares));
  }
  uint32_t firstOf(uint32_t share) const {
    if (threads < shares) return share % threads;
    return share * (threads / shares) + std::min(share, threads % shares);
  }
  bool has(uint32_t share, uint32_t thread) const {
    return thread >= firstOf(share) && thread < firstOf(share) + threadsOf(share);
  }
};

} // namespace sprig::rt::core

#endif
