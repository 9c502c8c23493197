#include "tools/sprig/train/SameFacts.h"
#include <algorithm>
#include <vector>

namespace sprig::cli {

int firstDifference(std::span<const uint64_t> numbers, const ReduceNumbers &reduce) {
  std::vector<uint64_t> least(numbers.begin(), numbers.end()), largest = least;
  reduce(least, SPRIG_RT_MIN);
  reduce(largest, SPRIG_RT_MAX);
  auto [at, other] = std::mismatch(least.begin(), least.end(), largest.begin());
  return at == least.end() ? -1 : int(at - least.begin());
}

const Fact *firstDifference(std::span<const Fact> facts, const ReduceNumbers &reduce) {
  std::vector<uint64_t> hashes;
  for (const Fact &fact : facts) hashes.push_back(std::hash<std::string>()(fact.value));
  int at = firstDifference(hashes, reduce);
  return at < 0 ? nullptr : &facts[size_t(at)];
}

} // namespace sprig::cli
