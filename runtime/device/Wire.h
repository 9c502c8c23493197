// One direction of a link of set latency and rate, or both of one that is half duplex, paced in real time: a copy has
// arrived no sooner than its latency and its bytes at the link's rate allow. Copies that are on their way at once share
// the rate evenly, as the simulator has it; their latencies take nothing from others. One thread moves the bytes and
// else sleeps, so that no thread that computes is held up.
#ifndef SPRIG_RUNTIME_DEVICE_WIRE_H
#define SPRIG_RUNTIME_DEVICE_WIRE_H

#include "runtime/base/Status.h"
#include "sprig/rt/units.hpp"

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace sprig::rt::core {

// A copy on its way; stays where it is until it has arrived.
struct WiredCopy {
  uint8_t *target = nullptr;
  const uint8_t *source = nullptr;
  uint64_t bytes = 0;
  const void *owner = nullptr;            // for Wire::forget
  void (*arrived)(WiredCopy &) = nullptr; // on the wire's thread; the copy may be used again from within
};

class Wire {
public:
  explicit Wire(const LinkRates &rates) : rates(rates) {}
  ~Wire();

  const LinkRates rates;

  // Its thread; before the first copy.
  Status start();
  void begin(WiredCopy &copy);
  // The same, and returns when it has arrived.
  void carry(uint8_t *target, const uint8_t *source, uint64_t bytes);
  // Returns when no call of `arrived` for an owner goes on. All its copies have arrived.
  void forget(const void *owner);

private:
  // Times are nanoseconds since the wire was made.
  struct Flow {
    WiredCopy *copy;
    double begin;     // of its bytes, behind the latency
    double bytesLeft; // at `clock`
    bool moved = false;
  };
  double now() const { return std::chrono::duration<double, std::nano>(Clock::now() - origin).count(); }
  void advanceTo(double ns);
  double nextChange(double limit) const;
  size_t flowing() const;
  void threadLoop();
  bool moveBytes(std::unique_lock<std::mutex> &guard);
  bool deliver(std::unique_lock<std::mutex> &guard);

  using Clock = std::chrono::steady_clock;
  const Clock::time_point origin = Clock::now();
  std::mutex lock;
  std::condition_variable changed;   // for the thread
  std::condition_variable delivered; // for who forgets
  std::deque<Flow> flows;            // in the order in which they began
  double clock = 0;                  // up to which flows are reckoned
  const void *calling = nullptr;     // whose `arrived` runs
  bool closing = false;
  std::thread thread;
};

} // namespace sprig::rt::core

#endif
