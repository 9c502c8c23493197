// The longest chain of commands of which each needs what the one before has computed: no machine with commands as quick
// as these ends sooner, however many lanes it has.
// For `sprig profile` (measured times) and `sprig simulate` (played ones).
#pragma once
#include <cstdint>
#include <vector>

namespace sprig::machine {

struct DependentWork {
  double ns = 0;
  std::vector<uint32_t> after; ///< work in front of this one in the list
};

struct CriticalPath {
  double ns = 0;
  std::vector<uint32_t> work; ///< from the first to the last; what takes no time is left out
};

/// Of several chains of one length, one whose end comes first in the list.
CriticalPath criticalPath(const std::vector<DependentWork> &work);

} // namespace sprig::machine
