// How long a load takes: one that the next one waits for, by working set, and where that steps up (the caches as
// measured); and one of many in a row, by their order.
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

// The two below measure what the order of accesses costs: strides, directions, rows against columns. Both run the same
// plain loop of one load after the other, so that only the addresses differ.

/// ns for each of `count` 4-byte loads that are `stride` elements apart; the array is `count * |stride|` long, and a
/// negative stride goes through it backwards.
double stridedNs(int64_t count, int64_t stride);

/// ns a load of the first `columns` columns of a square matrix of floats, row by row or column by column.
double matrixNs(int64_t size, int64_t columns, bool byColumn);

} // namespace sprig::machine
