// What the C ABI's sprig_rt_group is: for the ABI, and for those who have a rank and give it to a context.
#ifndef SPRIG_RUNTIME_COMM_GROUPHANDLE_H
#define SPRIG_RUNTIME_COMM_GROUPHANDLE_H

#include "runtime/comm/RankGroup.h"

struct sprig_rt_group {
  std::shared_ptr<sprig::rt::comm::RankGroup> group;
};

#endif
