#include "runtime/exec/State.h"

namespace sprig::rt::core {

Status State::create(std::shared_ptr<const Package> package, std::shared_ptr<State> &state) {
  auto fresh = std::make_shared<State>();
  const std::vector<StateType> &types = package->program().states;
  for (uint32_t i = 0; i < types.size(); ++i) {
    const TensorType &tensor = types[i].tensor;
    const Device &device = package->device(package->stateDevice(i));
    Memory block;
    SPRIG_RETURN_IF_ERROR(
        device.allocate(package->allocator(), tensor.bytes, concat("state '", tensor.name, "'").text(), block));
    if (package->executes()) SPRIG_RETURN_IF_ERROR(package->copyConstant(types[i].initial, device, block.address));
    fresh->addresses.push_back(block.address);
    fresh->buffers.push_back(std::move(block));
  }
  fresh->owner = std::move(package);
  state = std::move(fresh);
  return {};
}

Status State::createBound(std::shared_ptr<const Package> package, std::shared_ptr<State> &state) {
  if (!package->isOnHost())
    return {SPRIG_RT_UNSUPPORTED, concat("expected devices that work on the host's memory, found ",
                                         package->device(0).name(), ": its states have memory of their own")};
  auto fresh = std::make_shared<State>();
  fresh->addresses.resize(package->program().states.size());
  fresh->owner = std::move(package);
  state = std::move(fresh);
  return {};
}

static Status stateInUse() { return {SPRIG_RT_BUSY, "the state is in use by a run"}; }

Status State::read(uint32_t index, void *target) {
  if (!acquire(false)) return stateInUse();
  Status status = download(device(index), target, addresses[index], owner->program().states[index].tensor.bytes);
  release(false);
  return status;
}

Status State::write(uint32_t index, const void *source) {
  if (!acquire(true)) return stateInUse();
  Status status = upload(device(index), addresses[index], source, owner->program().states[index].tensor.bytes);
  release(true);
  return status;
}

bool State::acquire(bool writes) {
  int32_t seen = users.load(std::memory_order_relaxed);
  for (;;) {
    if (seen < 0 || (writes && seen != 0)) return false;
    if (users.compare_exchange_weak(seen, writes ? -1 : seen + 1, std::memory_order_acquire)) return true;
  }
}

bool State::becomeWriter() {
  int32_t one = 1;
  return users.compare_exchange_strong(one, -1, std::memory_order_acquire);
}

void State::release(bool writes) {
  if (writes)
    users.store(0, std::memory_order_release);
  else
    users.fetch_sub(1, std::memory_order_release);
}

} // namespace sprig::rt::core
