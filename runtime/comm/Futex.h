// Sleeping on a word until another thread wakes: with an end to it, and between processes, which std::atomic::wait
// knows neither of.
#ifndef SPRIG_RUNTIME_COMM_FUTEX_H
#define SPRIG_RUNTIME_COMM_FUTEX_H

#include <algorithm>
#include <atomic>
#include <chrono>
#include <climits>
#include <cstdint>
#include <ctime>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace sprig::rt::comm {

// Who sleeps on it: threads of this process, or of all that have its memory.
enum class Sleepers : int { own = FUTEX_PRIVATE_FLAG, all = 0 };

// How long a rank looks for what it waits for before it sleeps, if each rank may have a core for itself.
constexpr int kSpinMicroseconds = 50;

inline void pauseSpinning() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

// Whether the condition comes true within so many microseconds, or is; does not sleep. Whoever makes it true may be on
// this core, so after a moment others get it.
template <typename Condition> bool lookFor(int microseconds, Condition condition) {
  using Clock = std::chrono::steady_clock;
  constexpr auto kAloneTime = std::chrono::microseconds(1);
  if (condition()) return true;
  if (!microseconds) return false;
  auto begin = Clock::now(), end = begin + std::chrono::microseconds(microseconds);
  for (auto now = begin; now < end; now = Clock::now()) {
    if (now - begin > kAloneTime) ::sched_yield();
    for (int i = 0; i < 16; ++i) {
      if (condition()) return true;
      pauseSpinning();
    }
  }
  return false;
}

// Sleeps while the word is what was seen, until `deadline`.
inline void sleepOn(std::atomic<uint32_t> &word, uint32_t seen, std::chrono::steady_clock::time_point deadline,
                    Sleepers sleepers) {
  using Clock = std::chrono::steady_clock;
  static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));
  timespec wait = {};
  bool isBounded = deadline != Clock::time_point::max();
  if (isBounded) {
    auto left = std::max(deadline - Clock::now(), Clock::duration::zero());
    wait.tv_sec = std::chrono::duration_cast<std::chrono::seconds>(left).count();
    wait.tv_nsec = long((left % std::chrono::seconds(1)) / std::chrono::nanoseconds(1));
  }
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAIT | int(sleepers), seen, isBounded ? &wait : nullptr,
          nullptr, 0);
}

inline void wakeAll(std::atomic<uint32_t> &word, Sleepers sleepers) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAKE | int(sleepers), INT_MAX, nullptr, nullptr, 0);
}

} // namespace sprig::rt::comm

#endif
