#include "runtime/exec/State.h"

namespace sprig::rt::core {

Status State::create(std::shared_ptr<const Package> package, std::shared_ptr<State> &state) {
  auto fresh = std::make_shared<State>();
  for (const StateType &type : package->program().states) {
    Block block;
    SPRIG_RETURN_IF_ERROR(package->home().allocate(package->allocator(), type.tensor.bytes,
                                                   concat("state '", type.tensor.name, "'"), block));
    if (package->home().executes()) package->copyConstant(type.initial, block.data());
    fresh->addresses.push_back(block.data());
    fresh->buffers.push_back(std::move(block));
  }
  fresh->owner = std::move(package);
  state = std::move(fresh);
  return {};
}

Status State::createBound(std::shared_ptr<const Package> package, std::shared_ptr<State> &state) {
  auto fresh = std::make_shared<State>();
  fresh->addresses.resize(package->program().states.size());
  fresh->owner = std::move(package);
  state = std::move(fresh);
  return {};
}

bool State::acquire(bool writes) {
  int32_t seen = users.load(std::memory_order_relaxed);
  for (;;) {
    if (seen < 0 || (writes && seen != 0)) return false;
    if (users.compare_exchange_weak(seen, writes ? -1 : seen + 1, std::memory_order_acquire)) return true;
  }
}

void State::release(bool writes) {
  if (writes)
    users.store(0, std::memory_order_release);
  else
    users.fetch_sub(1, std::memory_order_release);
}

} // namespace sprig::rt::core
