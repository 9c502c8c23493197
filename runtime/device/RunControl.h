// What the commands of one run share while they may be in flight: whether to go on, and what failed first. A device
// looks at it before each command and leaves out what follows a stop, but for events, so that all lanes end. A GPU's
// lanes look when they are given a command: what they have enqueued runs, whatever a kernel before it finds.
#ifndef SPRIG_RUNTIME_DEVICE_RUNCONTROL_H
#define SPRIG_RUNTIME_DEVICE_RUNCONTROL_H

#include "runtime/base/Status.h"
#include "runtime/load/Program.h"
#include "sprig/rt/kernel.h"

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

namespace sprig::rt::core {

class RunControl {
public:
  // Forgets an earlier stop; before the first run of a call. `cancelled` may be null, else the runs up to the next arm
  // stop when it is true.
  void arm(const std::atomic<bool> *cancelled) {
    if (!cancelled) {
      stop.store(Going, std::memory_order_relaxed);
      return;
    }
    stop.store(Going);
    // Who cancels sets the flag, then calls cancel(): one of the two is seen.
    if (cancelled->load()) cancel();
  }
  // From any thread: the armed run stops at its next command.
  void cancel() { stop.store(Cancelled); }

  bool isGoing() const { return stop.load(std::memory_order_relaxed) == Going; }
  // In one order with what other threads do: cancel(), and what they look at behind it.
  bool isStopped() const { return stop.load() != Going; }
  bool isCancelled() const { return stop.load(std::memory_order_relaxed) == Cancelled; }

  // A kernel that began at tile `begin` ended with `result`. The rest of its dispatch still runs: the first failing
  // tile is the one that is told, however it was cut.
  void fail(const Command &command, const sprig_rt_kernel_status &status, int32_t result, int64_t begin);
  // The device itself could not do a command.
  void fail(Status status);

  // A dispatch's kernel says in `status`, which is zero before, what it found; looked at when the run has ended. Where
  // several failed it is the one that was enqueued first, as the others may have read what it left undone.
  struct Watched {
    const Command *command;
    sprig_rt_kernel_status *status;
  };
  void watch(const Watched &dispatch) { watched.push_back(dispatch); }
  std::vector<Watched> takeWatched() { return std::exchange(watched, {}); }

  // What stopped the run, taken along so that the next one starts without; ok where it was taken before.
  Status take(const Program &program);

private:
  enum Stop : uint32_t { Going, Cancelled, Failed };
  void stopFailed();
  void lookAtWatched();

  std::atomic<uint32_t> stop{Going};
  std::mutex lock; // taken by failures only
  struct Failure {
    const Command *command = nullptr;
    sprig_rt_kernel_status status = {};
    int32_t result = 0;
    int64_t begin = 0;
  } failure;
  Status deviceFailure;
  std::vector<Watched> watched; // of who enqueues, then of who takes what stopped the run
};

} // namespace sprig::rt::core

#endif
