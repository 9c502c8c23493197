// How long a load takes that the next one waits for, by working set, and where that steps up: the caches as measured.
// For calibration and `sprig bench memory`.
#pragma once
#include <cstdint>
#include <vector>

namespace sprig::machine {

struct LatencyPoint {
  int64_t workingSet = 0; ///< bytes
  double ns = 0;          ///< of one dependent load
};

/// A cycle in jumps through one pointer a cache line: every load depends on the one before, no prefetcher can follow.
double chaseSeconds(int64_t workingSet);
/// From 4 KiB to `largest`, up to four points a doubling, each the best of so many sweeps over all.
std::vector<LatencyPoint> latencyCurve(int64_t largest, int sweeps);
/// The working set in the middle of each rise of the latency by half or more: about the size of a cache.
std::vector<int64_t> findKnees(std::vector<LatencyPoint> points);

} // namespace sprig::machine
