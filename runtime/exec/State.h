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

  uint8_t *data(uint32_t index) const { return buffers[index].data(); }
  const Package &package() const { return *owner; }

  // Whether the run may go on; then it must end with release.
  bool acquire(bool writes);
  void release(bool writes);

private:
  std::shared_ptr<const Package> owner;
  std::vector<Block> buffers;
  std::atomic<int32_t> users{0}; // readers; -1: a writer
};

} // namespace sprig::rt::core

#endif
