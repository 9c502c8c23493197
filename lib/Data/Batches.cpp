#include "lib/Data/Batches.h"
#include "include/sprig/error.h"
#include "lib/Data/Philox.h"
#include <algorithm>
#include <numeric>
#include <string>

namespace sprig::data {
namespace {

// Told apart from other uses of the same seed by the counter's last word.
constexpr uint32_t kShuffleStream = 1;

class Draws {
public:
  Draws(uint64_t seed, uint64_t epoch) : key{uint32_t(seed), uint32_t(seed >> 32)}, epoch(epoch) {}

  /// Uniform in 0 to bound - 1 (Lemire, "Fast random integer generation in an interval", 2019).
  uint64_t below(uint64_t bound) {
    auto product = __uint128_t(word()) * bound;
    if (uint64_t(product) < bound)
      for (uint64_t least = -bound % bound; uint64_t(product) < least;) product = __uint128_t(word()) * bound;
    return uint64_t(product >> 64);
  }

private:
  std::array<uint32_t, 2> key;
  uint64_t epoch, block = 0;
  std::array<uint32_t, 4> words{};
  bool half = false;

  uint64_t word() {
    if (!half) {
      // Block numbers stay below 2^32: an epoch has fewer than 2^33 samples of memory's size.
      words = philox({uint32_t(block), uint32_t(block >> 32) ^ uint32_t(epoch >> 32), uint32_t(epoch), kShuffleStream},
                     key);
      ++block;
    }
    half = !half;
    return half ? uint64_t(words[1]) << 32 | words[0] : uint64_t(words[3]) << 32 | words[2];
  }
};

} // namespace

void shuffledOrder(uint64_t seed, uint64_t epoch, std::span<int64_t> order) {
  std::iota(order.begin(), order.end(), int64_t(0));
  Draws draws(seed, epoch);
  for (size_t last = order.size(); last > 1; --last) std::swap(order[last - 1], order[draws.below(last)]);
}

Batches::Batches(const Options &options) : options(options) {
  auto refuse = [&](const std::string &what) { badInput(what); };
  if (options.samples < 1) refuse("the data set is empty");
  if (options.batch < 1) refuse("a batch of " + std::to_string(options.batch) + " samples, expected at least 1");
  usable = options.dropLast ? options.samples - options.samples % options.batch : options.samples;
  if (usable == 0)
    refuse("the data set has " + std::to_string(options.samples) + " samples, a step takes " +
           std::to_string(options.batch) + " and smaller batches are left out");
  order.resize(size_t(options.samples));
}

int64_t Batches::stepsPerEpoch() const { return (usable + options.batch - 1) / options.batch; }

void Batches::seek(Position position) {
  if (position.epoch < 0 || position.index < 0 || position.index >= usable || position.index % options.batch)
    badInput("no step starts at sample " + std::to_string(position.index) + " of epoch " +
             std::to_string(position.epoch) + " (of " + std::to_string(usable) + " samples, " +
             std::to_string(options.batch) + " a step)");
  at = position;
}

std::span<const int64_t> Batches::next() {
  if (!options.shuffle) {
    if (ordered < 0) std::iota(order.begin(), order.end(), int64_t(0));
    ordered = at.epoch;
  } else if (ordered != at.epoch) {
    shuffledOrder(options.seed, uint64_t(at.epoch), order);
    ordered = at.epoch;
  }
  int64_t count = std::min(options.batch, usable - at.index);
  std::span<const int64_t> result(order.data() + at.index, size_t(count));
  at.index += count;
  if (at.index == usable) at = {at.epoch + 1, 0};
  return result;
}

} // namespace sprig::data
