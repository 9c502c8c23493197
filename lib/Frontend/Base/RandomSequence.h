// The one sequence of random words of the process: its key is the seed, and every draw takes a counter of its own.
// For the engine, which draws; data loaders take seeds of it that draw nothing (streamSeed). Any thread may ask.
#pragma once
#include "sprig/random.h"
#include <mutex>

namespace sprig::frontend {

class RandomSequence {
public:
  static RandomSequence &instance();

  void seed(uint64_t seed);
  RandomState state() const;
  void setState(const RandomState &state);
  /// The position in front of `draws` ones, which are taken.
  RandomState take(uint64_t draws);
  uint64_t takeStream();

private:
  mutable std::mutex mutex;
  RandomState next;
  uint64_t streams = 0;
};

} // namespace sprig::frontend
