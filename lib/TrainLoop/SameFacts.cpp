#include "lib/TrainLoop/SameFacts.h"
#include <vector>

namespace sprig::training {

int firstDifference(std::span<const uint64_t> numbers, const ReduceNumbers &reduce) {
  std::vector<uint64_t> largest(numbers.begin(), numbers.end());
  for (uint64_t number : numbers) largest.push_back(~number); // whose largest are the least
  reduce(largest);
  for (size_t i = 0; i < numbers.size(); ++i)
    if (largest[i] != ~largest[numbers.size() + i]) return int(i);
  return -1;
}

const Fact *firstDifference(std::span<const Fact> facts, const ReduceNumbers &reduce) {
  std::vector<uint64_t> hashes;
  for (const Fact &fact : facts) hashes.push_back(std::hash<std::string>()(fact.value));
  int at = firstDifference(hashes, reduce);
  return at < 0 ? nullptr : &facts[size_t(at)];
}

std::string notAlikeText(const std::string &what) {
  return "the ranks do not begin alike: " + what +
         "\nnote: each reads the model, the configuration, the data and the checkpoint for itself, and all have to "
         "find the same";
}

} // namespace sprig::training
