// Measures this machine: peak rate of fused multiply-adds, streams by cache level, latencies, the cost of another
// thread. For `sprig devices --calibrate`, which keeps the result in the cache folder, and MachineModel, which reads it
// there. One sweep takes some two seconds.
#pragma once
#include "lib/Machine/Cpu.h"
#include "lib/Machine/Latency.h"
#include "lib/Machine/Link.h"
#include "lib/Machine/Steadiness.h"
#include <functional>
#include <span>

namespace sprig::machine {

/// Bytes/s of streams that stay in one level.
struct LevelRates {
  int level = 0;                ///< 1 to 3; 0: memory
  int64_t bytes = 0;            ///< of one cache, as the system says; 0 for memory
  int instances = 0;            ///< how many caches of the level the machine has
  double read = 0, readAll = 0; ///< one thread; all threads together
  double write = 0, copy = 0;   ///< one thread; a copy counts bytes read and written
  std::string name() const { return level ? "L" + std::to_string(level) : "memory"; }
};

struct Calibration {
  std::string model; ///< the processor that was measured
  std::string isa;
  int threads = 1;                   ///< of the rates of all threads
  double fmaFlops = 0;               ///< f32 FLOP/s of one thread
  double fmaFlopsAll = 0;            ///< of all threads together
  double byteDots = 0, bf16Dots = 0; ///< operations/s of such products (DotRates.h), one thread; 0: not measured
  std::vector<LevelRates> levels;    ///< the caches that exist, then memory
  double randomSeconds = 0;          ///< of a dependent load from memory
  double handOffSeconds = 0;         ///< to give work to a waiting thread and learn of its end
  Link crossCore;                    ///< to what another core has just written, as one thread reads it
  std::vector<LatencyPoint> latency; ///< dependent loads over growing working sets
  std::vector<int64_t> cacheKnees;   ///< working sets after which the latency steps up: the caches as measured
  Steadiness steadiness;             ///< 0 sweeps: nothing is known of it

  /// Read rate (bytes/s) of one thread at a working set.
  double bandwidthAt(int64_t workingSet) const;
};

/// Of each figure the best of all sweeps, which are of one machine; knees are found anew.
Calibration bestOf(std::span<const Calibration> sweeps);
/// The figure whose best two sweeps differ the most, and by which share of the best; none of fewer than two.
std::pair<std::string, double> widestSpread(std::span<const Calibration> sweeps);

/// Sweeps that a calibration takes: as few as the least, more until it is steady or took so long.
struct SweepLimits {
  int least = 3, most = 8;
  double seconds = 10;
};
/// `onSweep` hears of each that begins, counted from 1.
Calibration calibrate(const Cpu &cpu, SweepLimits limits, const std::function<void(int)> &onSweep = {});

} // namespace sprig::machine
