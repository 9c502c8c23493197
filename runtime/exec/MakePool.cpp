// What is done once a pool: its threads, and where they run.
#include "runtime/exec/Pool.h"

#include "runtime/machine/Machine.h"

#include <algorithm>
#include <system_error>

namespace sprig::rt::core {

static constexpr int kMaxPoolThreads = 1024;
static constexpr int kDefaultSpinMicroseconds = 50;

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

static std::span<const Processor> processorsFor(const PoolOptions &options) {
  return options.processors.empty() ? usableProcessors() : options.processors;
}

Status Pool::checkPin(const PoolOptions &options, int threads) {
  if (options.pin < 0) return {SPRIG_RT_INVALID_ARGUMENT, concat("pin: expected 0 or more, found ", options.pin)};
  if (options.executor.execute)
    return {SPRIG_RT_INVALID_ARGUMENT, "pin: the threads of a given executor are its own; bind them there"};
  if (sharesProcessors())
    return {SPRIG_RT_INVALID_ARGUMENT,
            "pin: the ranks of this machine may use the same processors; start them by 'sprig launch --bind cores'"};
  size_t wanted = size_t(options.pin) - 1 + size_t(threads), usable = processorsFor(options).size();
  if (wanted <= usable) return {};
  return {SPRIG_RT_INVALID_ARGUMENT,
          concat("pin: expected a processor for each of ", wanted, " threads, but this process may use ", usable,
                 "; take fewer threads, or do not pin them")};
}

Status Pool::create(const PoolOptions &options, std::shared_ptr<Pool> &pool) {
  int threads = options.threads ? options.threads : defaultThreads();
  if (threads < 1 || threads > kMaxPoolThreads)
    return {SPRIG_RT_INVALID_ARGUMENT, concat("expected 1 to ", kMaxPoolThreads, " threads, found ", threads)};
  if (options.pin) SPRIG_RETURN_IF_ERROR(checkPin(options, threads));
  std::shared_ptr<Pool> fresh(new Pool);
  fresh->threadCount = uint32_t(threads);
  int spin = options.spinMicroseconds ? std::max(options.spinMicroseconds, 0) : kDefaultSpinMicroseconds;
  fresh->spins = uint32_t(std::min<uint64_t>(uint64_t(spin) * pausesPerMicrosecond(*fresh), UINT32_MAX));
  fresh->givenExecutor = options.executor;
  if (options.pin) fresh->pinned = processorsFor(options).subspan(size_t(options.pin) - 1);
  // A pool has several nodes where not all participants are on the caller's.
  int onCallersNode = 0;
  auto isNearCaller = [&](int participant) {
    return options.pin && fresh->pinned[size_t(participant)].node == fresh->pinned.front().node;
  };
  for (int i = 0; i < threads; ++i) onCallersNode += isNearCaller(i);
  fresh->helpers = std::make_unique<Helper[]>(size_t(threads - 1));
  fresh->slotCount = std::max(16u, 2 * fresh->threadCount);
  fresh->slots = std::make_unique<Slot[]>(fresh->slotCount);
  for (int i = 0; i < threads - 1; ++i) {
    Helper &helper = fresh->helpers[size_t(i)];
    helper.pool = fresh.get();
    helper.participant = uint32_t(i + 1);
    helper.isNearCaller = onCallersNode < threads && isNearCaller(i + 1);
    if (options.executor.execute) continue;
    try {
      fresh->ownThreads.emplace_back([raw = fresh.get(), &helper] { raw->helperLoop(helper); });
    } catch (const std::system_error &) {
      // The system gives no more: those that are there do the work, with the same bits. No helper reads the count.
      fresh->threadCount = uint32_t(i + 1);
      break;
    }
    int processor = options.pin ? fresh->pinned[size_t(i + 1)].number : kAnyProcessor;
    if (!bindThread(fresh->ownThreads.back().native_handle(), processor) && options.pin)
      return {SPRIG_RT_UNSUPPORTED, concat("pin: the system binds no thread to processor ", processor)};
  }
  pool = std::move(fresh);
  return {};
}

Status Pool::shared(std::shared_ptr<Pool> &pool) {
  static std::mutex lock;
  static auto &existing = *new std::weak_ptr<Pool>; // asked in static destructors, too
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

} // namespace sprig::rt::core
