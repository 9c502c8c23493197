// The threads that help runs along. Idle ones look for work for a short while and then sleep; nothing ever waits for a
// sleeping one. Shared by any number of contexts.
#ifndef SPRIG_RUNTIME_EXEC_POOL_H
#define SPRIG_RUNTIME_EXEC_POOL_H

#include "runtime/base/Status.h"
#include "runtime/exec/Helped.h"
#include "runtime/machine/Processors.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <span>
#include <thread>
#include <vector>

namespace sprig::rt::core {

struct PoolOptions {
  int threads = 0;                 // including the caller's; 0: defaultThreads()
  int spinMicroseconds = 0;        // 0: a default, negative: none
  sprig_rt_executor executor = {}; // all null: threads of its own
  int pin = 0;                     // 1: each thread on a processor of its own; n: from the n-th on; 0: unpinned
  std::span<const Processor> processors = {}; // to pin to, which outlive the pool; none: usableProcessors()
};

class Pool {
public:
  static Status create(const PoolOptions &options, std::shared_ptr<Pool> &pool);
  // One of the whole process, with the default number of threads.
  static Status shared(std::shared_ptr<Pool> &pool);
  ~Pool();
  // Whether so many threads can be pinned as the options say.
  static Status checkPin(const PoolOptions &options, int threads);

  // How many threads a run can be cut over, the caller's included: fewer than asked for where the system starts no
  // more. Participants are numbered below it.
  uint32_t threads() const { return threadCount; }

  // Offers work to the helpers until it is taken back. Without a free slot it goes unhelped, which is only slower.
  void publish(Helped &work);
  void unpublish(Helped &work);
  // There is something new in what is on offer.
  void wake();
  // Whether wake() would have to call somebody; who is awake finds work without.
  bool someSleep() const;
  // Returns when no helper looks at what is not on offer any more; before it may be destroyed.
  void forget(const Helped &work) const;

  void pause() const;
  // Until `condition` holds, of which every change also counts `signal` up and notifies it: looks for a while before it
  // sleeps.
  template <typename Condition> void waitUntil(const std::atomic<uint32_t> &signal, Condition condition) const {
    for (uint32_t i = 0; i <= spins; ++i) {
      if (condition()) return;
      pause();
    }
    for (;;) {
      uint32_t seen = signal.load();
      if (condition()) return;
      signal.wait(seen);
    }
  }
  const sprig_rt_executor &executor() const { return givenExecutor; }

  // Where threads are pinned, the participants' processors by number, and what is left behind them; else none.
  std::span<const Processor> processors() const { return pinned; }
  // The calling thread is participant 0.
  void pinCaller() const {
    if (!pinned.empty()) bindCaller(pinned.front().number);
  }
  // Whether a participant takes slices of a dispatch from the front; the others take them from the back. Of threads
  // that are pinned over several nodes it is those of the caller's node, so that each half of an array is written, at
  // first and later, by threads of one node: the system puts a page on the node that first writes it.
  bool takesFront(uint32_t participant) const {
    return participant == 0 || (participant < threadCount && helpers[participant - 1].isNearCaller);
  }

private:
  struct Helper {
    alignas(64) std::atomic<Helped *> looking{nullptr};
    std::atomic<bool> active{false}; // with an executor: a task is queued or running
    Pool *pool = nullptr;
    std::chrono::steady_clock::time_point lastMove = {};
    uint32_t participant = 0;
    bool isNearCaller = false; // on the caller's node, of several
  };
  struct Slot {
    alignas(64) std::atomic<Helped *> work{nullptr};
  };

  Pool() = default;
  void helperLoop(Helper &helper);
  bool helpOnce(Helper &helper);
  bool helpUntilIdle(Helper &helper);
  void leaveCaller(Helper &helper);
  static void executorTask(void *argument);
  void postTasks();

  uint32_t threadCount = 1;
  uint32_t spins = 0;
  sprig_rt_executor givenExecutor = {};
  std::span<const Processor> pinned;
  std::unique_ptr<Helper[]> helpers;
  std::unique_ptr<Slot[]> slots;
  uint32_t slotCount = 0;
  std::vector<std::thread> ownThreads;
  alignas(64) std::atomic<uint32_t> published{0};  // works that are on offer
  std::atomic<int> callerCpu{-1};                  // where the last of them comes from
  alignas(64) std::atomic<uint32_t> workNumber{0}; // counts wakes; sleepers wait for a change
  alignas(64) std::atomic<uint32_t> sleepers{0};
  std::atomic<bool> closing{false};
};

} // namespace sprig::rt::core

#endif
