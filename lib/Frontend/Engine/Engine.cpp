#include "lib/Frontend/Engine/Engine.h"
#include "lib/Frontend/Engine/PlanCache.h"
#include "lib/Frontend/Engine/RankScope.h"
#include "lib/JIT/ProcessEnd.h"
#include <algorithm>
#include <array>
#include <chrono>
#include <shared_mutex>
#include <system_error>

namespace sprig::frontend {

namespace {
/// How long something may lie recorded before an executor without work takes it.
constexpr auto kIdle = std::chrono::microseconds(500);
/// How many tasks that need not start at once may wait: waking the executor for each would cost more than they do.
constexpr size_t kMostWaiting = 8;

std::atomic<int> mostInFlight{32};

struct Lanes {
  std::mutex mutex; // of making them
  std::atomic<Engine *> engines[kMostLanes] = {};
};
Lanes &lanes() {
  static auto &all = *new Lanes;
  return all;
}
} // namespace

Engine &Engine::of(LaneId lane) {
  Lanes &known = lanes();
  if (Engine *engine = known.engines[lane].load(std::memory_order_acquire)) [[likely]]
    return *engine;
  std::lock_guard lock(known.mutex);
  if (!known.engines[lane].load(std::memory_order_relaxed))
    known.engines[lane].store(new Engine(lane), std::memory_order_release);
  return *known.engines[lane].load(std::memory_order_relaxed);
}

std::vector<Engine *> Engine::all() {
  std::vector<Engine *> engines;
  for (auto &each : lanes().engines)
    if (Engine *engine = each.load(std::memory_order_acquire)) engines.push_back(engine);
  return engines;
}

std::vector<Engine *> Engine::ofThisRank() {
  std::vector<Engine *> engines = all();
  std::erase_if(engines, [](const Engine *engine) { return isOfOtherRank(engine->lane); });
  return engines;
}

void Engine::stopAll() {
  for (Engine *engine : all()) engine->stop();
}

Engine::Engine(LaneId lane) : lane(lane) {
  try {
    thread = std::thread([this] { loop(); });
  } catch (const std::system_error &) {
    // Those who read values run what is queued.
  }
  // Threads that compile end before the compiler's static objects do. Handles of static storage are still read and
  // released after this; they find an engine that callers' threads drive.
  ProcessEnd::setHook([] {
    PlanCache::instance().stop();
    stopAll();
  });
  ProcessEnd::watchThread();
}

void Engine::stop() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  changed.notify_all();
  if (thread.joinable()) thread.join();
}

/// Held by who queues, alone by who queues in several lanes.
static std::shared_mutex &queueing() {
  static auto &mutex = *new std::shared_mutex;
  return mutex;
}

/// Where this thread has pushed more than may be in flight, and has not waited yet. Nothing to destroy: handles of
/// static storage push, too.
struct CrowdedLanes {
  std::array<Engine *, 8> engines;
  size_t count = 0;
  void add(Engine *engine) {
    auto last = engines.begin() + count;
    if (count < engines.size() && std::find(engines.begin(), last, engine) == last) engines[count++] = engine;
  }
};
static thread_local CrowdedLanes crowded;

void Engine::push(std::unique_ptr<Task> task, bool wake) {
  // While there is one device, nobody queues in several lanes.
  std::shared_lock held(queueing(), std::defer_lock);
  if (openDevices() > 1) held.lock();
  enqueue(std::move(task), wake);
}

void Engine::pushToEach(std::span<const LaneId> lanes, std::vector<std::unique_ptr<Task>> tasks, bool wake) {
  std::lock_guard held(queueing());
  for (size_t i = 0; i < lanes.size(); ++i) of(lanes[i]).enqueue(std::move(tasks[i]), wake && i == 0);
}

void Engine::enqueue(std::unique_ptr<Task> task, bool wake) {
  ProcessEnd::watchThread(); // an engine may have been made by another thread than the one that ends the process
  {
    std::lock_guard lock(mutex);
    queue.push_back(std::move(task));
    ++pushed;
    if (pushed - done > uint64_t(limit())) crowded.add(this);
    urgent |= wake || queue.size() > kMostWaiting;
    // Parked for good, it would not come to what can wait.
    wake = parked && (urgent || !recording);
    recording = true;
  }
  if (wake) changed.notify_one();
}

void Engine::makeRoom() {
  while (crowded.count) {
    Engine *engine = crowded.engines[--crowded.count];
    if (isOfOtherRank(engine->lane)) continue;
    std::unique_lock lock(engine->mutex);
    // Who waits for room helps to make it.
    while (engine->pushed - engine->done > uint64_t(limit())) {
      lock.unlock();
      bool ran = engine->runOne();
      lock.lock();
      if (!ran) engine->finished.wait_for(lock, kIdle);
    }
  }
}

template <typename IsOver> bool Engine::runOne(IsOver isOver) {
  std::unique_lock turn(running, std::try_to_lock);
  if (!turn || isOver()) return false;
  std::unique_ptr<Task> task;
  {
    std::lock_guard lock(mutex);
    if (queue.empty()) return false;
    task = std::move(queue.front());
    queue.pop_front();
  }
  task->run();
  task.reset(); // releases what it held before anybody hears that it is done
  turn.unlock();
  {
    std::lock_guard lock(mutex);
    ++done;
    if (isTimed && queue.empty()) idleSince = std::chrono::steady_clock::now();
  }
  finished.notify_all();
  return true;
}

void Engine::loop() {
  std::unique_lock lock(mutex);
  bool isDue = false; // what could wait has waited
  for (;;) {
    if (!queue.empty() && (urgent || isDue || stopping)) {
      lock.unlock();
      bool ran = runOne();
      lock.lock();
      // Another thread runs a task, and ends with a notification.
      if (!ran && !queue.empty()) finished.wait_for(lock, kIdle);
      continue;
    }
    if (stopping) return;
    urgent = isDue = false;
    parked = true;
    auto isAsked = [&] { return urgent || stopping; };
    if (!recording) changed.wait(lock, [&] { return isAsked() || recording; });
    if (!isAsked() && !changed.wait_for(lock, kIdle, isAsked)) {
      recording = false;
      isDue = true;
      parked = false;
      auto hook = idleHook;
      lock.unlock();
      bool again = hook && hook(lane);
      lock.lock();
      recording |= again;
    }
    parked = false;
  }
}

template <typename IsOver> void Engine::helpUntil(IsOver isOver) {
  while (!isOver()) {
    if (runOne(isOver)) continue;
    std::unique_lock lock(mutex);
    if (isOver()) return;
    // The executor runs a task: its end is told. The time limit covers a task that was pushed in between.
    finished.wait_for(lock, kIdle, isOver);
  }
}

void Engine::waitFor(const Value &value) {
  helpUntil([&] { return value.isThere(); });
}

void Engine::waitFor(const std::atomic<bool> &done) {
  helpUntil([&] { return done.load(std::memory_order_acquire); });
}

void Engine::drain() {
  std::unique_lock lock(mutex);
  uint64_t target = pushed;
  while (done < target) {
    lock.unlock();
    bool ran = runOne();
    lock.lock();
    if (!ran && done < target) finished.wait_for(lock, kIdle);
  }
}

void Engine::drainAll() {
  ProcessEnd::watchThread();
  for (Engine *engine : ofThisRank()) engine->drain();
}

void Engine::setLimit(int tasks) { mostInFlight = tasks; }
int Engine::limit() { return mostInFlight.load(std::memory_order_relaxed); }

int Engine::inFlight() const {
  std::lock_guard lock(mutex);
  return int(pushed - done);
}

void Engine::setIdleHook(bool (*hook)(LaneId)) {
  std::lock_guard lock(mutex);
  idleHook = hook;
}

std::chrono::steady_clock::time_point Engine::ranOutAt() {
  std::lock_guard lock(mutex);
  isTimed = true;
  return idleSince;
}

void Engine::noteRecording() {
  bool wake;
  {
    std::lock_guard lock(mutex);
    // Once is enough: then it looks after a while, and again until it finds nothing.
    wake = parked && !recording;
    recording = true;
  }
  if (wake) changed.notify_one();
}

void Engine::noteFailure(const Failure &failure) {
  static std::atomic<uint64_t> count{0};
  std::lock_guard lock(mutex);
  if (firstFailure) return;
  firstFailure = failure;
  failedAt = ++count;
}

Failure Engine::takeFailure() {
  Failure failure;
  {
    std::lock_guard lock(mutex);
    failure = std::exchange(firstFailure, nullptr);
  }
  if (failure) forget(failure);
  return failure;
}

void Engine::forget(const Failure &failure) {
  for (Engine *engine : all()) {
    std::lock_guard lock(engine->mutex);
    if (engine->firstFailure == failure) engine->firstFailure = nullptr;
  }
}

Failure Engine::takeFailureOfAny() {
  Failure first;
  uint64_t at = UINT64_MAX;
  for (Engine *engine : all()) {
    std::lock_guard lock(engine->mutex);
    Failure failure = std::exchange(engine->firstFailure, nullptr);
    if (failure && engine->failedAt < at) {
      first = failure;
      at = engine->failedAt;
    }
  }
  return first;
}

} // namespace sprig::frontend
