// What the links of a rank by shared memory have together: its bell, and messages that found no room yet.
#ifndef SPRIG_RUNTIME_COMM_SHM_SHMRANK_H
#define SPRIG_RUNTIME_COMM_SHM_SHMRANK_H

#include "runtime/comm/shm/Ring.h"

#include <condition_variable>
#include <mutex>
#include <thread>

namespace sprig::rt::comm {

// What a rank's memory begins with; then a ring from each rank.
struct ShmHead {
  uint64_t token;
  alignas(64) SharedBell bell;
};

class ShmLink;

class ShmRank {
public:
  using Clock = std::chrono::steady_clock;
  ShmRank(std::shared_ptr<std::byte> head, int spinMicroseconds)
      : head(std::move(head)), spinMicroseconds(spinMicroseconds) {}
  ~ShmRank();

  // Where a rank also waits at links of another engine, a thread goes on with what found no room meanwhile.
  void startPump();
  std::unique_lock<std::mutex> lock() {
    return pump.joinable() ? std::unique_lock(mutex) : std::unique_lock<std::mutex>();
  }
  SharedBell &bell() const { return reinterpret_cast<ShmHead *>(head.get())->bell; }

  // Under the lock: a link has messages that are not out. And goes on with those of all links.
  void addWaiting(ShmLink &link);
  void pumpAll();

  template <typename Condition> bool look(Condition condition) { return lookFor(spinMicroseconds, condition); }
  template <typename Condition> bool wait(Condition condition, std::chrono::nanoseconds most);
  void interrupt() {
    isInterrupted = true;
    bell().ring();
  }

private:
  void runPump();
  std::shared_ptr<std::byte> head;
  int spinMicroseconds;
  std::atomic<bool> isInterrupted = false;
  std::mutex mutex; // where there is a pump: of all that is on its way out
  std::vector<ShmLink *> waiting;
  std::condition_variable changed;
  bool isEnding = false;
  std::thread pump;
};

template <typename Condition> bool ShmRank::wait(Condition condition, std::chrono::nanoseconds most) {
  auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(most);
  for (;;) {
    // Who has news first makes it known and then looks who sleeps.
    bell().asleep.fetch_add(1);
    uint32_t seen = bell().count.load();
    bool holds = condition();
    if (!holds && !isInterrupted) sleepOn(bell().count, seen, deadline, Sleepers::all);
    bell().asleep.fetch_sub(1);
    if (holds) return true;
    if (isInterrupted.exchange(false) || Clock::now() >= deadline) return condition();
  }
}

} // namespace sprig::rt::comm

#endif
