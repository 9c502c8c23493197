// What places that data names cost beyond the bytes that are read or written there: gathers and scatters, beside dense
// streams. For the schedule, placement and predictions (docs/simulator.md).
#pragma once
#include "lib/Machine/MachineModel.h"

namespace sprig::machine {

/// Places in memory that data names.
struct Accesses {
  double count = 0;
  double bytes = 0;  ///< of their cache lines
  double spread = 0; ///< bytes that the places are spread over
};

/// Misses that a thread waits for at a time, and a multiprocessor of a GPU.
inline constexpr double kMissesInFlight = 24, kMissesOfMultiprocessor = 256;

/// Seconds that accesses wait for, beyond what their bytes take at the rate of streams. `workingSet`: bytes that are
/// touched again and again, theirs among them. Where the last cache does not hold it, each line waits for the memory,
/// a few at a time, and on a GPU each place. Places on more pages than a processor remembers wait for the pages'
/// addresses, which caches have; a GPU hides that behind its other threads.
double accessSeconds(const MachineModel &model, const Accesses &accesses, double workingSet, int threads = 1);

/// Of what an operation touches (dialects/Interfaces/Touch.h), or a package says of it.
template <typename Touched>
double accessSeconds(const MachineModel &model, const Touched &touched, double workingSet, int threads = 1) {
  if (!touched.accessedBytes) return 0;
  return accessSeconds(model, Accesses{double(touched.accesses), double(touched.accessedBytes), double(touched.spread)},
                       workingSet, threads);
}

} // namespace sprig::machine
