// Times of what devices' streams did in a call, brought from the devices' clocks into the call.
#ifndef SPRIG_RUNTIME_PROFILE_STREAMTIMES_H
#define SPRIG_RUNTIME_PROFILE_STREAMTIMES_H

#include "runtime/profile/Profile.h"

#include <string>
#include <vector>

namespace sprig::rt::core {

// What one of them did, in order.
struct StreamTimes {
  std::string name;
  std::vector<StreamSpan> spans;
};

// What has ended ends by `now`: where a device's clock says otherwise, the times of all streams are scaled about
// `origin`, which is no later than any of them. What was at one moment stays so, and what came before stays before.
void endBy(uint64_t now, uint64_t origin, std::vector<StreamTimes> &streams);

} // namespace sprig::rt::core

#endif
