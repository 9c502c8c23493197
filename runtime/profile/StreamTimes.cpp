#include "runtime/profile/StreamTimes.h"

#include <algorithm>

namespace sprig::rt::core {

void endBy(uint64_t now, uint64_t origin, std::vector<StreamTimes> &streams) {
  now = std::max(now, origin); // processors' counters may be apart by a little
  uint64_t last = origin;
  for (const StreamTimes &stream : streams)
    for (const StreamSpan &span : stream.spans) last = std::max(last, span.end);
  if (last <= now) return;
  double scale = double(now - origin) / double(last - origin);
  for (StreamTimes &stream : streams)
    for (StreamSpan &span : stream.spans)
      for (uint64_t *at : {&span.begin, &span.end})
        *at = std::min(now, origin + uint64_t(double(std::max(*at, origin) - origin) * scale));
}

} // namespace sprig::rt::core
