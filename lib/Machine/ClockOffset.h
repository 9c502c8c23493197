// How far another process's clock is ahead of this one's, from moments that both were in at once.
// For profiles of ranks that are processes. What is said of the error is a bound, as long as clocks run alike.
#pragma once
#include <cstdint>
#include <span>

namespace sprig::machine {

/// Around one barrier, by a rank's own clock: nobody leaves it before all have come.
struct BarrierStamps {
  uint64_t came = 0, left = 0;
};

struct ClockOffset {
  double ns = 0;      ///< that the other clock shows more
  double errorNs = 0; ///< at most so far from that; below 0: clocks drifted while the stamps were taken
};

/// Of the same barriers, in their order. The moment at which all had come lies between each rank's two stamps.
ClockOffset clockOffset(std::span<const BarrierStamps> own, std::span<const BarrierStamps> other);

} // namespace sprig::machine
