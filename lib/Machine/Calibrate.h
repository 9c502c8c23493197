// Measures the processor: peak rate of fused multiply-adds, read bandwidth by working set, latency by a pointer chase.
// For `sprig devices --calibrate` and the roofline of `sprig bench`. Takes about two seconds; the result belongs to one
// machine and is kept in the cache folder.
#pragma once
#include "lib/Machine/Cpu.h"

namespace sprig::machine {

struct LatencyPoint {
  int64_t workingSet = 0; ///< bytes
  double ns = 0;          ///< of one dependent load
};

struct Calibration {
  std::string model; ///< the processor that was measured
  std::string isa;
  double fmaFlops = 0;               ///< f32 FLOP/s of one thread
  std::vector<double> readBandwidth; ///< bytes/s of one thread from L1, L2, L3 (those that exist), then memory
  std::vector<LatencyPoint> latency; ///< dependent loads over growing working sets
  std::vector<int64_t> cacheKnees;   ///< working sets after which the latency steps up: the caches as measured

  /// Read rate (bytes/s) at a working set.
  double bandwidthAt(int64_t workingSet, const Cpu &cpu) const;
};

Calibration calibrate(const Cpu &cpu);

} // namespace sprig::machine
