#include "lib/Machine/CriticalPath.h"
#include <algorithm>

namespace sprig::machine {

CriticalPath criticalPath(const std::vector<DependentWork> &work) {
  constexpr uint32_t kNone = UINT32_MAX;
  std::vector<double> length(work.size());
  std::vector<uint32_t> before(work.size(), kNone);
  uint32_t last = kNone;
  for (uint32_t i = 0; i < work.size(); ++i) {
    for (uint32_t each : work[i].after)
      if (before[i] == kNone || length[each] > length[before[i]]) before[i] = each;
    length[i] = work[i].ns + (before[i] == kNone ? 0 : length[before[i]]);
    if (last == kNone || length[i] > length[last]) last = i;
  }
  CriticalPath path;
  if (last == kNone) return path;
  path.ns = length[last];
  for (uint32_t i = last; i != kNone; i = before[i])
    if (work[i].ns > 0) path.work.push_back(i);
  std::reverse(path.work.begin(), path.work.end());
  return path;
}

} // namespace sprig::machine
