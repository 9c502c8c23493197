#include "runtime/exec/Pool.h"

#include "runtime/base/FloatEnv.h"
#include "runtime/machine/Machine.h"

#include <algorithm>
#include <chrono>
#include <system_error>

namespace sprig::rt::core {

static constexpr int kMaxPoolThreads = 1024;
static constexpr int kDefaultSpinMicroseconds = 50;
static constexpr std::chrono::milliseconds kBetweenMoves(16);

void Pool::pause() const {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

// A pause takes 10 to 140 cycles; measured, so that the limit means time.
static uint32_t pausesPerMicrosecond(const Pool &pool) {
  static const uint32_t rate = [&pool] {
    constexpr int count = 2000;
    auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < count; ++i) pool.pause();
    double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
    return uint32_t(std::clamp(count / std::max(us, 0.1), 1.0, 1000.0));
  }();
  return rate;
}

Status Pool::create(const PoolOptions &options, std::shared_ptr<Pool> &pool) {
  int threads = options.threads ? options.threads : defaultThreads();
  if (threads < 1 || threads > kMaxPoolThreads)
    return {SPRIG_RT_INVALID_ARGUMENT, concat("expected 1 to ", kMaxPoolThreads, " threads, found ", threads)};
  std::shared_ptr<Pool> fresh(new Pool);
  fresh->threadCount = uint32_t(threads);
  int spin = options.spinMicroseconds ? std::max(options.spinMicroseconds, 0) : kDefaultSpinMicroseconds;
  fresh->spins = uint32_t(std::min<uint64_t>(uint64_t(spin) * pausesPerMicrosecond(*fresh), UINT32_MAX));
  fresh->givenExecutor = options.executor;
  fresh->helpers = std::make_unique<Helper[]>(size_t(threads - 1));
  fresh->slotCount = std::max(16u, 2 * fresh->threadCount);
  fresh->slots = std::make_unique<Slot[]>(fresh->slotCount);
  for (int i = 0; i < threads - 1; ++i) {
    Helper &helper = fresh->helpers[size_t(i)];
    helper.pool = fresh.get();
    helper.participant = uint32_t(i + 1);
    if (options.executor.execute) continue;
    try {
      fresh->ownThreads.emplace_back([raw = fresh.get(), &helper] { raw->helperLoop(helper); });
    } catch (const std::system_error &) {
      // The system gives no more: those that are there do the work, with the same bits. No helper reads the count.
      fresh->threadCount = uint32_t(i + 1);
      break;
    }
  }
  pool = std::move(fresh);
  return {};
}

Status Pool::shared(std::shared_ptr<Pool> &pool) {
  static std::mutex lock;
  static std::weak_ptr<Pool> existing;
  std::lock_guard guard(lock);
  pool = existing.lock();
  if (pool) return {};
  SPRIG_RETURN_IF_ERROR(create({}, pool));
  existing = pool;
  return {};
}

Pool::~Pool() {
  closing.store(true);
  workNumber.fetch_add(1);
  workNumber.notify_all();
  for (std::thread &thread : ownThreads) thread.join();
  // Tasks that the executor still holds point here.
  for (uint32_t i = 0; i + 1 < threadCount; ++i)
    while (helpers[i].active.load(std::memory_order_acquire)) std::this_thread::yield();
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
  if (cpu < 0 || cpu != currentCpu() || givenExecutor.execute) return; // an executor's threads are its own
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
