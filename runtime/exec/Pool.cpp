#include "runtime/exec/Pool.h"

#include "runtime/base/FloatEnv.h"
#include "runtime/machine/Machine.h"

#include <chrono>

namespace sprig::rt::core {

static constexpr std::chrono::milliseconds kBetweenMoves(16);

void Pool::pause() const {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

void Pool::publish(Helped &work) {
  callerCpu.store(currentCpu(), std::memory_order_relaxed);
  for (uint32_t i = 0; i < slotCount; ++i) {
    Helped *expected = nullptr;
    if (slots[i].work.load(std::memory_order_relaxed) == nullptr &&
        slots[i].work.compare_exchange_strong(expected, &work)) {
      published.fetch_add(1);
      return;
    }
  }
}

void Pool::unpublish(Helped &work) {
  for (uint32_t i = 0; i < slotCount; ++i)
    if (slots[i].work.load(std::memory_order_relaxed) == &work) {
      published.fetch_sub(1);
      slots[i].work.store(nullptr);
      return;
    }
}

// A helper announces what it looks at before it looks and checks that the work is still on offer; both orders are
// sequentially consistent, so either it sees the work gone or this sees its announcement.
void Pool::forget(const Helped &work) const {
  for (uint32_t i = 0; i + 1 < threadCount; ++i)
    while (helpers[i].looking.load() == &work) std::this_thread::yield();
}

bool Pool::helpOnce(Helper &helper) {
  if (published.load() == 0) return false;
  bool helped = false;
  for (uint32_t i = 0; i < slotCount; ++i) {
    Helped *work = slots[i].work.load(std::memory_order_relaxed);
    if (!work) continue;
    helper.looking.store(work);
    if (slots[i].work.load() == work) helped |= work->help(helper.participant);
    helper.looking.store(nullptr, std::memory_order_release);
  }
  return helped;
}

// A helper that is woken may be put on the caller's own processor, and stay there for tens of milliseconds: then one
// of the two stands still while the other runs. Where others' work has all processors it stays: there it would be put
// aside amid a slice that the caller then waits for.
void Pool::leaveCaller(Helper &helper) {
  int cpu = callerCpu.load(std::memory_order_relaxed);
  if (cpu < 0 || cpu != currentCpu()) return;
  if (givenExecutor.execute || !pinned.empty()) return; // an executor's threads are its own
  auto now = std::chrono::steady_clock::now();
  if (now - helper.lastMove < kBetweenMoves) return;
  helper.lastMove = now;
  if (hasIdleCpu()) leaveCpu(cpu, int(threadCount));
}

// Looks for work until there has been none for the spin limit; whether the pool is still open.
bool Pool::helpUntilIdle(Helper &helper) {
  for (uint32_t idle = 0; idle <= spins;) {
    if (closing.load(std::memory_order_relaxed)) return false;
    leaveCaller(helper);
    if (helpOnce(helper)) {
      idle = 0;
    } else {
      ++idle;
      pause();
    }
  }
  return true;
}

void Pool::helperLoop(Helper &helper) {
  FloatEnv floatEnv;
  while (helpUntilIdle(helper)) {
    // Counted as asleep before the last look: who publishes after that look sees a sleeper and wakes it.
    sleepers.fetch_add(1);
    uint32_t seen = workNumber.load();
    if (!helpOnce(helper) && !closing.load()) workNumber.wait(seen);
    sleepers.fetch_sub(1);
  }
}

void Pool::wake() {
  if (threadCount == 1) return;
  if (givenExecutor.execute) return postTasks();
  workNumber.fetch_add(1);
  if (sleepers.load()) workNumber.notify_all();
}

bool Pool::someSleep() const {
  if (!givenExecutor.execute) return sleepers.load(std::memory_order_relaxed) != 0;
  for (uint32_t i = 0; i + 1 < threadCount; ++i)
    if (!helpers[i].active.load(std::memory_order_relaxed)) return true;
  return false;
}

void Pool::postTasks() {
  for (uint32_t i = 0; i + 1 < threadCount; ++i)
    if (!helpers[i].active.exchange(true)) givenExecutor.execute(givenExecutor.user, &Pool::executorTask, &helpers[i]);
}

void Pool::executorTask(void *argument) {
  Helper &helper = *static_cast<Helper *>(argument);
  {
    FloatEnv floatEnv;
    helper.pool->helpUntilIdle(helper);
  }
  helper.active.store(false, std::memory_order_release);
}

} // namespace sprig::rt::core
