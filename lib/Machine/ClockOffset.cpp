#include "lib/Machine/ClockOffset.h"
#include <algorithm>
#include <limits>

namespace sprig::machine {

// The other's clock is ahead by at least what it shows when it comes beyond what this one shows when it leaves.
ClockOffset clockOffset(std::span<const BarrierStamps> own, std::span<const BarrierStamps> other) {
  if (own.empty() || own.size() != other.size()) return {};
  double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < own.size(); ++i) {
    least = std::max(least, double(int64_t(other[i].came - own[i].left)));
    most = std::min(most, double(int64_t(other[i].left - own[i].came)));
  }
  return {(least + most) / 2, (most - least) / 2};
}

} // namespace sprig::machine
