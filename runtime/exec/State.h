// The buffers that runs update in place: parameters, optimizer state, counters. Readers share it, a writer has it
// alone; nobody waits.
#ifndef SPRIG_RUNTIME_EXEC_STATE_H
#define SPRIG_RUNTIME_EXEC_STATE_H

#include "runtime/exec/Package.h"

#include <atomic>

namespace sprig::rt::core {

class State {
public:
  static Status create(std::shared_ptr<const Package> package, std::shared_ptr<State> &state);
  // Without memory of its own: each buffer is the caller's, from bind. On devices that work on the host's memory.
  static Status createBound(std::shared_ptr<const Package> package, std::shared_ptr<State> &state);

  // On the state's device, which the host may not touch.
  uint8_t *data(uint32_t index) const { return addresses[index]; }
  const Device &device(uint32_t index) const { return owner->device(owner->stateDevice(index)); }
  bool isBound() const { return buffers.empty(); }
  // All of a state's bytes, from and to the host's memory; not while a run uses the state.
  Status read(uint32_t index, void *target);
  Status write(uint32_t index, const void *source);
  // Not while a run uses the state.
  void bind(uint32_t index, void *data) {
    if (addresses[index] == data) return;
    addresses[index] = static_cast<uint8_t *>(data);
    ++changes;
  }
  // Differs from before when an address does.
  uint64_t version() const { return changes; }
  const Package &package() const { return *owner; }

  // Whether the run may go on; then it must end with release.
  bool acquire(bool writes);
  void release(bool writes);
  // Whether a run that reads may go on as one that writes: it has to be the only one.
  bool becomeWriter();

private:
  std::shared_ptr<const Package> owner;
  std::vector<Memory> buffers; // of a state that has its own
  std::vector<uint8_t *> addresses;
  uint64_t changes = 1;
  std::atomic<int32_t> users{0}; // readers; -1: a writer
};

} // namespace sprig::rt::core

#endif
