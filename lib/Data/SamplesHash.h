// Whether two processes have the same samples: a hash of their bytes.
// For ranks that read the data each for itself.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace sprig::data {

class SamplesHash {
public:
  void add(std::string_view bytes);
  /// Samples of so many bytes each: all of them, or, above 256 MB, some that are evenly spread. `addRange` adds those
  /// from one index to before another.
  void addSamples(int64_t count, int64_t bytesEach, const std::function<void(int64_t, int64_t)> &addRange);
  /// 16 hexadecimal digits.
  std::string text() const;

private:
  uint64_t hash = 0;
};

} // namespace sprig::data
