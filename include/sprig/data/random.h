// Random numbers of one sample's transformations.
// For data sets and transformations. A stream belongs to seed, epoch and sample: which worker runs it changes nothing.
#pragma once
#include "sprig/api.h"
#include <array>
#include <cstdint>

namespace sprig::data {

/// Philox4x32-10 under the seed as key, counters (draw, sample, epoch). A generator for the standard random header too.
class Random {
public:
  using result_type = uint64_t;
  Random(uint64_t seed, int64_t epoch, int64_t sample) : seed(seed), epoch(epoch), sample(sample) {}

  /// 64 random bits.
  SPRIG_API uint64_t operator()();
  static constexpr uint64_t min() { return 0; }
  static constexpr uint64_t max() { return ~uint64_t(0); }

  /// In [0, 1), or [low, high), of 53 bits.
  double uniform() { return double((*this)() >> 11) * 0x1p-53; }
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// In 0 to bound - 1, without bias; 0 for a bound below 2.
  SPRIG_API int64_t below(int64_t bound);
  /// Box and Muller's method, two draws each.
  SPRIG_API double normal();
  bool chance(double probability) { return uniform() < probability; }

private:
  uint64_t seed;
  int64_t epoch, sample;
  uint32_t block = 0;
  bool half = false;
  std::array<uint32_t, 4> words{};
};

} // namespace sprig::data
