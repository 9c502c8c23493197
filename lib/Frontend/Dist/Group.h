// A rank's end of a group, as the public Group has it.
#pragma once
#include "runtime/comm/Communicator.h"
#include "sprig/dist.h"

namespace sprig::dist {

struct Group::Impl {
  explicit Impl(rt::comm::Transport &transport) : transport(transport), communicator(transport) {}
  rt::comm::Transport &transport;
  rt::comm::Communicator communicator;
};

} // namespace sprig::dist
