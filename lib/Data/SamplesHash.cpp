#include "lib/Data/SamplesHash.h"
#include "runtime/base/Hex.h"
#include <algorithm>

namespace sprig::data {

void SamplesHash::add(std::string_view bytes) {
  hash = (hash ^ std::hash<std::string_view>()(bytes)) * 0x9e3779b97f4a7c15 + 1;
}

void SamplesHash::addSamples(int64_t count, int64_t bytesEach, const std::function<void(int64_t, int64_t)> &addRange) {
  constexpr int64_t kMostBytes = int64_t(256) << 20;
  const int64_t most = std::max<int64_t>(kMostBytes / std::max<int64_t>(bytesEach, 1), 1);
  if (count <= most) return addRange(0, count);
  for (int64_t i = 0; i < most; ++i) {
    int64_t at = i * (count - 1) / std::max<int64_t>(most - 1, 1);
    addRange(at, at + 1);
  }
}

std::string SamplesHash::text() const { return hexDigits(hash); }

} // namespace sprig::data
