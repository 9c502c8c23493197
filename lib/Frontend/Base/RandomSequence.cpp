#include "lib/Frontend/Base/RandomSequence.h"
#include <utility>

namespace sprig {

namespace frontend {

static thread_local RandomSequence *ofThread = nullptr;

RandomScope::RandomScope(RandomSequence &sequence) : outer(std::exchange(ofThread, &sequence)) {}
RandomScope::~RandomScope() { ofThread = outer; }

RandomSequence &RandomSequence::current() {
  static auto &sequence = *new RandomSequence;
  return ofThread ? *ofThread : sequence;
}

RandomSequence::RandomSequence(const RandomSequence &other) { follow(other); }

void RandomSequence::follow(const RandomSequence &other) {
  std::scoped_lock lock(mutex, other.mutex);
  next = other.next;
  streams = other.streams;
}

void RandomSequence::seed(uint64_t seed) {
  std::lock_guard lock(mutex);
  next = {seed, 0};
  streams = 0;
}

RandomState RandomSequence::state() const {
  std::lock_guard lock(mutex);
  return next;
}

void RandomSequence::setState(const RandomState &state) {
  std::lock_guard lock(mutex);
  next = state;
}

RandomState RandomSequence::take(uint64_t draws) {
  std::lock_guard lock(mutex);
  RandomState first = next;
  next.draws += draws;
  return first;
}

uint64_t RandomSequence::takeStream() {
  std::lock_guard lock(mutex);
  return streams++;
}

} // namespace frontend

uint64_t streamSeed(uint64_t stream) {
  uint64_t seed = frontend::RandomSequence::current().state().seed;
  if (stream == 0) return seed;
  // Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
  uint64_t mixed = seed + stream * 0x9e3779b97f4a7c15;
  mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ mixed >> 27) * 0x94d049bb133111eb;
  return mixed ^ mixed >> 31;
}

uint64_t nextStream() { return frontend::RandomSequence::current().takeStream(); }

} // namespace sprig
