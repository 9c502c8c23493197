#include "test/gpu/driver/Scheduler.h"

#include <chrono>

namespace sprig::cuda {
namespace {
// How long no call must come before host functions run although nobody waits for them: somebody may wait for what they
// do.
constexpr std::chrono::milliseconds kQuiet(2);
} // namespace

Scheduler::Scheduler(Order order, uint64_t seed, std::mutex &mutex)
    : order(order), mutex(mutex), random(seed), hostLane(createLane()), host(std::make_shared<Clock>()) {}

Scheduler::~Scheduler() {
  {
    std::lock_guard lock(mutex);
    stopping = true;
    changed.notify_all();
  }
  if (worker.joinable()) worker.join();
  // Operations that never ran hold one another.
  for (auto &[number, operation] : queued) {
    operation->after.clear();
    operation->dependents.clear();
  }
}

std::shared_ptr<Lane> Scheduler::createLane() { return std::make_shared<Lane>(Lane{lanes++}); }

OperationRef Scheduler::add(OperationRef operation) {
  operation->number = ++numbers;
  operation->host = host;
  operation->queued = seen;
  std::erase(operation->after, nullptr);
  for (const OperationRef &before : operation->after) {
    if (before->done()) continue;
    ++operation->waiting;
    before->dependents.push_back(operation);
  }
  queued.emplace(operation->number, operation);
  if (operation->waiting == 0) ready.emplace(operation->number, operation);
  if (operation->callsHost) {
    hostCalls.emplace(operation->number, operation);
    if (!worker.joinable()) worker = std::thread([this] { work(); });
    changed.notify_all();
  }
  return operation;
}

void Scheduler::begin(Operation &operation) {
  operation.state = Operation::State::Running;
  ready.erase(operation.number);
  hostCalls.erase(operation.number);
  operation.clock = *operation.host;
  double started = operation.queued;
  for (const OperationRef &before : operation.after) {
    operation.clock.join(before->clock);
    started = std::max(started, before->ended);
  }
  operation.time = ++operation.lane->time;
  operation.clock.set(operation.lane->index, operation.time);
  operation.ended = started;
}

void Scheduler::finish(const OperationRef &operation) {
  operation->state = Operation::State::Done;
  operation->ended += operation->cost;
  latest = std::max(latest, operation->ended);
  operation->body = nullptr;
  operation->after.clear();
  queued.erase(operation->number);
  for (OperationRef &dependent : operation->dependents)
    if (--dependent->waiting == 0) ready.emplace(dependent->number, dependent);
  operation->dependents.clear();
  changed.notify_all();
}

void Scheduler::run(const OperationRef &operation) {
  if (operation->callsHost && std::this_thread::get_id() != worker.get_id()) {
    urgent.push_back(operation);
    changed.notify_all();
  } else if (operation->state == Operation::State::Queued) {
    begin(*operation);
    if (operation->callsHost)
      callHost(operation);
    else if (operation->body)
      operation->body(operation);
    finish(operation);
    return;
  }
  // Another thread does it, or has begun to.
  std::unique_lock lock(mutex, std::adopt_lock);
  changed.wait(lock, [&] { return operation->done(); });
  lock.release();
}

void Scheduler::callHost(const OperationRef &operation) {
  mutex.unlock();
  operation->body(operation);
  mutex.lock();
}

// What has to be done next so that `operation` can be: the operation itself, or one that it waits for. Of several, the
// one queued last, so that what is not ordered happens the other way round.
OperationRef Scheduler::nextOf(const OperationRef &operation) {
  OperationRef at = operation;
  while (at->state == Operation::State::Queued && at->waiting > 0) {
    for (auto it = at->after.rbegin(); it != at->after.rend(); ++it) {
      if ((*it)->done()) continue;
      at = *it;
      break;
    }
  }
  return at;
}

void Scheduler::require(const OperationRef &operation) {
  while (!operation->done()) {
    OperationRef next = nextOf(operation);
    if (order == Order::Random && next->state == Operation::State::Queued && !ready.empty()) {
      auto it = std::next(ready.begin(), random() % ready.size());
      // Others' host functions stay with the worker: this thread need not wait for them.
      if (!it->second->callsHost) next = it->second;
    }
    run(next);
  }
}

void Scheduler::joinHost(const Clock &clock) {
  auto joined = std::make_shared<Clock>(*host);
  joined->join(clock);
  host = std::move(joined);
}

void Scheduler::wait(const OperationRef &operation) {
  if (!operation) return;
  ++calls;
  require(operation);
  joinHost(operation->clock);
  seen = std::max(seen, operation->ended);
}

void Scheduler::waitAll() {
  std::vector<OperationRef> all;
  for (auto &[number, operation] : queued) all.push_back(operation);
  for (const OperationRef &operation : all) wait(operation);
}

bool Scheduler::poll(const OperationRef &operation) {
  if (!operation || operation->done()) return true;
  OperationRef next = nextOf(operation);
  if (!next->callsHost && next->state == Operation::State::Queued) run(next);
  return false;
}

void Scheduler::progress() {
  ++calls;
  size_t budget = order == Order::Eager ? SIZE_MAX : order == Order::Lazy ? 0 : random() % 4;
  while (budget-- > 0) {
    std::vector<OperationRef> candidates;
    for (auto &[number, operation] : ready) {
      if (operation->callsHost) continue;
      candidates.push_back(operation);
      if (order == Order::Eager) break;
    }
    if (candidates.empty()) return;
    run(candidates[random() % candidates.size()]);
  }
}

void Scheduler::runWithin(const OperationRef &whole, const std::vector<OperationRef> &operations) {
  for (const OperationRef &operation : operations) {
    operation->number = ++numbers;
    operation->host = whole->host;
    operation->after.push_back(whole);
  }
  size_t left = operations.size();
  while (left > 0) {
    std::vector<OperationRef> candidates;
    for (const OperationRef &operation : operations) {
      auto isDone = [&](const OperationRef &before) { return before == whole || before->done(); };
      if (!operation->done() && std::all_of(operation->after.begin(), operation->after.end(), isDone))
        candidates.push_back(operation);
    }
    size_t pick = order == Order::Eager  ? 0
                  : order == Order::Lazy ? candidates.size() - 1
                                         : random() % candidates.size();
    const OperationRef &next = candidates[pick];
    begin(*next);
    if (next->body) next->body(next);
    finish(next);
    --left;
  }
  for (const OperationRef &operation : operations) {
    whole->clock.join(operation->clock);
    whole->ended = std::max(whole->ended, operation->ended);
  }
}

OperationRef Scheduler::hostOperation(std::string name) {
  auto operation = std::make_shared<Operation>();
  operation->name = std::move(name);
  operation->where = "host";
  operation->lane = hostLane;
  operation->number = ++numbers;
  operation->host = host;
  begin(*operation);
  operation->state = Operation::State::Done;
  joinHost(operation->clock);
  return operation;
}

bool Scheduler::insideHostFunction() const {
  return worker.joinable() && std::this_thread::get_id() == worker.get_id();
}

void Scheduler::work() {
  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [&] { return stopping || !urgent.empty() || !hostCalls.empty(); });
    if (stopping) return;
    OperationRef next;
    if (!urgent.empty()) {
      next = urgent.front();
      urgent.pop_front();
    } else {
      uint64_t seen = calls;
      bool asked = order != Order::Eager &&
                   changed.wait_for(lock, kQuiet, [&] { return stopping || !urgent.empty() || calls != seen; });
      if (asked || hostCalls.empty()) continue;
      next = hostCalls.begin()->second;
    }
    lock.release();
    if (!next->done()) require(next);
    if (order == Order::Eager) progress();
    lock = std::unique_lock(mutex, std::adopt_lock);
  }
}

} // namespace sprig::cuda
