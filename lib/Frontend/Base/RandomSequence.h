// Sequences of random words: the key is the seed, and every draw takes a counter of its own. The process has one, and
// each rank that is a thread another one.
// For the engine, which draws; data loaders take seeds of it that draw nothing (streamSeed). Any thread may ask.
#pragma once
#include "sprig/random.h"
#include <mutex>

namespace sprig::frontend {

class RandomSequence {
public:
  RandomSequence() = default;
  /// Goes on where the other one is.
  explicit RandomSequence(const RandomSequence &other);
  RandomSequence &operator=(const RandomSequence &) = delete;

  /// This thread's: a rank's own, else the process's.
  static RandomSequence &current();

  void seed(uint64_t seed);
  RandomState state() const;
  void setState(const RandomState &state);
  /// The position in front of `draws` ones, which are taken.
  RandomState take(uint64_t draws);
  uint64_t takeStream();
  /// Goes on where the other one has come to.
  void follow(const RandomSequence &other);

private:
  mutable std::mutex mutex;
  RandomState next;
  uint64_t streams = 0;
};

/// While it lives, this thread draws of that sequence.
class RandomScope {
public:
  explicit RandomScope(RandomSequence &sequence);
  ~RandomScope();
  RandomScope(const RandomScope &) = delete;
  RandomScope &operator=(const RandomScope &) = delete;

private:
  RandomSequence *outer;
};

} // namespace sprig::frontend
