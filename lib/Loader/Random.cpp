#include "sprig/data/random.h"
#include "lib/Data/Philox.h"
#include <cmath>
#include <numbers>

namespace sprig::data {
namespace {

// The low byte tells streams of the same seed apart: shuffles have 1 (Batches.cpp).
constexpr uint32_t kSampleStream = 2;

} // namespace

uint64_t Random::operator()() {
  if (!half)
    words = philox({block++, uint32_t(sample), uint32_t(epoch), kSampleStream | uint32_t(sample >> 32) << 8},
                   {uint32_t(seed), uint32_t(seed >> 32)});
  half = !half;
  return half ? uint64_t(words[1]) << 32 | words[0] : uint64_t(words[3]) << 32 | words[2];
}

int64_t Random::below(int64_t bound) {
  if (bound < 2) return 0;
  // Lemire, "Fast random integer generation in an interval", 2019.
  auto range = uint64_t(bound);
  auto product = __uint128_t((*this)()) * range;
  if (uint64_t(product) < range)
    for (uint64_t least = -range % range; uint64_t(product) < least;) product = __uint128_t((*this)()) * range;
  return int64_t(product >> 64);
}

double Random::normal() {
  double radius = std::sqrt(-2 * std::log1p(-uniform())), angle = 2 * std::numbers::pi * uniform();
  return radius * std::cos(angle);
}

} // namespace sprig::data
