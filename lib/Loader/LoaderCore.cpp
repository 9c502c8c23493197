#include "lib/Loader/LoaderCore.h"
#include "lib/Data/Batches.h"
#include "lib/Loader/MeasureWorkers.h"
#include "runtime/collective/Shares.h"
#include "runtime/machine/Processors.h"
#include "sprig/rt/profile.hpp"
#include <algorithm>
#include <numeric>
#include <pthread.h>
#include <sched.h>
#include <system_error>

namespace sprig::data {
namespace {

constexpr int kMostWorkers = 1024;

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

int automaticWorkers() {
  cpu_set_t usable;
  int cores = sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : 1;
  return std::clamp(cores / 2, 1, 8);
}

LoaderOptions checked(const Dataset &set, LoaderOptions options) {
  auto refuse = [](const char *what, int64_t value, const std::string &expected) {
    badUse(std::string("data: ") + what + " is " + std::to_string(value) + ", expected " + expected);
  };
  if (options.batch < 1) refuse("batch", options.batch, "at least 1");
  if (options.ranks < 1) refuse("ranks", options.ranks, "at least 1");
  if (options.passes < 1) refuse("passes", options.passes, "at least 1");
  if (options.rank < 0 || options.rank >= options.ranks)
    refuse("rank", options.rank, "0 to " + std::to_string(options.ranks - 1));
  if (options.ranks > 1 && options.shuffle && !options.shuffle.seed())
    badUse("data: shuffle has no seed, expected one, so that all " + std::to_string(options.ranks) +
           " ranks have the same order");
  if (!options.weights.empty()) {
    if (options.weights.size() != size_t(options.ranks))
      refuse("the number of weights", int64_t(options.weights.size()),
             "that of the ranks, " + std::to_string(options.ranks));
    int64_t sum = 0;
    for (int64_t weight : options.weights) {
      if (weight < 1 || weight > rt::collective::kMostWeight) refuse("a rank's weight", weight, "at least 1");
      sum += weight;
    }
    if (sum > rt::collective::kMostWeight)
      refuse("the sum of weights", sum, "at most " + std::to_string(rt::collective::kMostWeight));
  }
  if (options.prefetch < 1) refuse("prefetch", options.prefetch, "at least 1");
  if (options.workers == kAutomaticWorkers) options.workers = automaticWorkers();
  bool isMeasured = options.workers == kMeasuredWorkers;
  if (!isMeasured && (options.workers < 0 || options.workers > kMostWorkers))
    refuse("workers", options.workers, "0 to " + std::to_string(kMostWorkers) + ", automatic or measured");
  if (isMeasured) options.workers = measureWorkers(set, options);
  return options;
}

// Enough to keep what is on its way and what the consumer lets go, for two fields and for some more.
constexpr int64_t kKeptFields = 4;

} // namespace

LoaderCore::LoaderCore(Dataset set, LoaderOptions given)
    : set(std::move(set)), options(checked(this->set, std::move(given))),
      stream(options.shuffle && !options.shuffle.seed() ? nextStream() : 0),
      buffers(std::make_shared<Buffers>(size_t(kKeptFields * (int64_t(options.workers) * options.prefetch + 2)))),
      ahead(int64_t(options.workers) * options.prefetch), storage(options.ioDelay) {
  Batches steps({.samples = this->set.size(), .batch = options.batch, .dropLast = options.dropLast});
  batches = steps.stepsPerEpoch();
  ring.resize(size_t(ahead));
}

LoaderCore::~LoaderCore() {
  std::unique_lock lock(mutex);
  stopWorkers(lock);
}

LoaderStats LoaderCore::stats() const {
  std::lock_guard lock(mutex);
  LoaderStats result = counts;
  result.buffers = buffers->allocated();
  return result;
}

int64_t LoaderCore::epoch() const {
  std::lock_guard lock(mutex);
  return nextEpoch;
}

Loader::Position LoaderCore::position() const {
  std::lock_guard lock(mutex);
  if (plan && nextOut < batches) return {plan->epoch, nextOut};
  return {nextEpoch, firstBatch};
}

void LoaderCore::seek(int64_t epoch, int64_t batch) {
  if (epoch < 0 || batch < 0 || batch >= batches)
    badUse("data: no batch " + std::to_string(batch) + " of epoch " + std::to_string(epoch) + ": an epoch has " +
           std::to_string(batches) + " batches");
  std::lock_guard lock(mutex);
  nextEpoch = epoch;
  firstBatch = batch;
}

std::shared_ptr<void> LoaderCore::start() {
  std::shared_ptr<Run> run; // goes after the lock: its end takes the lock
  std::unique_lock lock(mutex);
  if (plan) {
    int64_t before = plan->generation;
    lock.unlock();
    finish(before);
    lock.lock();
  }
  auto next = std::make_shared<Plan>();
  next->epoch = nextEpoch;
  next->generation = ++generation;
  next->order.resize(size_t(set.size()));
  uint64_t orderSeed = seed();
  next->drawSeed = options.seed.value_or(orderSeed);
  if (options.shuffle)
    shuffledOrder(orderSeed, uint64_t(next->epoch), next->order);
  else
    std::iota(next->order.begin(), next->order.end(), int64_t(0));
  run = std::make_shared<Run>(shared_from_this(), next->generation);
  ++nextEpoch;
  nextTaken = nextOut = std::exchange(firstBatch, 0);
  limit = batches;
  plan = std::move(next);
  startWorkers();
  taken.notify_all();
  return run;
}

void LoaderCore::startWorkers() {
  while (int64_t(threads.size()) < options.workers) {
    try {
      threads.emplace_back([this] {
        rt::core::runAnywhere();
        work();
      });
    } catch (const std::system_error &error) {
      runtimeError("data: worker " + std::to_string(threads.size() + 1) + " of " + std::to_string(options.workers) +
                   " cannot be started: " + error.what());
    }
    pthread_setname_np(threads.back().native_handle(), "sprig-loader");
    ++counts.workerStarts;
  }
}

void LoaderCore::stopWorkers(std::unique_lock<std::mutex> &lock) {
  stopping = true;
  ++generation;
  taken.notify_all();
  ended.notify_all();
  std::vector<std::thread> joined = std::move(threads);
  threads.clear();
  lock.unlock();
  for (std::thread &thread : joined) thread.join();
  lock.lock();
  stopping = false;
}

bool LoaderCore::canTake() const { return plan && nextTaken < limit && nextTaken < nextOut + ahead; }

void LoaderCore::work() {
  std::unique_lock lock(mutex);
  for (;;) {
    taken.wait(lock, [&] { return stopping || canTake(); });
    if (stopping) return;
    int64_t number = nextTaken++;
    counts.mostAhead = std::max(counts.mostAhead, nextTaken - nextOut);
    std::shared_ptr<const Plan> mine = plan;
    lock.unlock();
    auto start = Clock::now();
    Slot slot = load(*mine, number);
    double seconds = since(start);
    lock.lock();
    counts.loadSeconds += seconds;
    if (cancelled(*mine)) {
      lock.unlock();
      slot = Slot();
      mine.reset();
      lock.lock();
      continue;
    }
    if (slot.error) limit = std::min(limit, number + 1); // nothing after it will be asked for
    ring[size_t(number % ahead)] = std::move(slot);
    loaded.notify_one();
  }
}

bool LoaderCore::next(Run &run, Batch &batch) {
  if (run.over) return false;
  std::unique_lock lock(mutex);
  auto start = Clock::now();
  Slot slot;
  int64_t number = nextOut;
  if (isOf(run) && number < batches) {
    rt::ProfileScope scope("wait for data");
    if (options.workers == 0) {
      std::shared_ptr<const Plan> mine = plan;
      lock.unlock();
      slot = load(*mine, number);
      lock.lock();
      counts.loadSeconds += since(start);
    } else {
      loaded.wait(lock, [&] { return !isOf(run) || ring[size_t(number % ahead)].ready; });
      if (isOf(run)) slot = std::exchange(ring[size_t(number % ahead)], Slot());
    }
    counts.waitSeconds += since(start);
  }
  if (!isOf(run)) badUse("data: this iteration is over: its loader has begun another epoch since");
  if (!slot.ready || slot.error) {
    lock.unlock();
    run.over = true;
    finish(run.generation);
    if (slot.error) std::rethrow_exception(std::move(slot.error));
    return false;
  }
  ++nextOut;
  ++counts.batches;
  counts.samples += slot.batch.size();
  taken.notify_one();
  batch = std::move(slot.batch);
  return true;
}

void LoaderCore::finish(int64_t ending) {
  std::vector<Slot> dropped; // goes after the lock
  std::unique_lock lock(mutex);
  if (!plan || plan->generation != ending) return;
  plan = nullptr;
  ++generation;
  dropped.resize(ring.size());
  std::swap(dropped, ring);
  loaded.notify_all();
  ended.notify_all();
  if (!options.persistentWorkers) stopWorkers(lock);
}

} // namespace sprig::data
