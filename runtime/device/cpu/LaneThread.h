// A thread that drives a lane of a context's runs beside the caller: that of collectives, which waits for other ranks
// while the caller computes. Started at its first use; between runs it looks for the next one for a short while, where
// there is a core for it, and then sleeps.
#ifndef SPRIG_RUNTIME_DEVICE_CPU_LANETHREAD_H
#define SPRIG_RUNTIME_DEVICE_CPU_LANETHREAD_H

#include "runtime/exec/Pool.h"

#include <functional>

namespace sprig::rt::core {

class LaneThread {
public:
  // `drive` returns when the lane has ended, and throws nothing. The pool outlives the thread.
  LaneThread(const Pool &pool, std::function<void()> drive);
  ~LaneThread();

  // Has the thread drive a lane; the one before has ended. False where the system starts no thread.
  bool begin();
  // On the thread, as Pool::waitUntil.
  template <typename Condition> void waitUntil(const std::atomic<uint32_t> &signal, Condition condition) const {
    if (looks) return pool.waitUntil(signal, condition);
    for (;;) {
      uint32_t seen = signal.load();
      if (condition()) return;
      signal.wait(seen);
    }
  }

private:
  void loop();

  const Pool &pool;
  std::function<void()> drive;
  bool looks = false;              // before it sleeps
  std::atomic<uint32_t> number{0}; // of lanes that were begun, and of the end
  std::atomic<bool> closing{false};
  std::thread thread;
};

} // namespace sprig::rt::core

#endif
