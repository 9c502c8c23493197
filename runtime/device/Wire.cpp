#include "runtime/device/Wire.h"

#include "runtime/machine/Processors.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <system_error>
#if defined(__linux__)
#include <sys/prctl.h>
#endif

namespace sprig::rt::core {

namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

// The system may put a wake-up off, by 50 us unless told otherwise.
void wakeOnTime() {
#if defined(__linux__)
  prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
#endif
}

} // namespace

Wire::~Wire() {
  {
    std::lock_guard guard(lock);
    closing = true;
    changed.notify_all();
  }
  if (thread.joinable()) thread.join();
}

Status Wire::start() {
  if (thread.joinable()) return {};
  try {
    thread = std::thread([this] { threadLoop(); });
  } catch (const std::system_error &) {
    return {SPRIG_RT_OUT_OF_MEMORY, "the system starts no thread for a link"};
  }
  return {};
}

void Wire::begin(WiredCopy &copy) {
  std::lock_guard guard(lock);
  advanceTo(now());
  flows.push_back({&copy, clock + rates.latencyNs, double(copy.bytes)});
  changed.notify_all();
}

void Wire::carry(uint8_t *target, const uint8_t *source, uint64_t bytes) {
  struct Carried : WiredCopy {
    std::mutex lock;
    std::condition_variable changed;
    bool done = false;
  } copy;
  copy.target = target;
  copy.source = source;
  copy.bytes = bytes;
  // Under the lock, so that the copy is not gone while it is told.
  copy.arrived = [](WiredCopy &arrived) {
    auto &own = static_cast<Carried &>(arrived);
    std::lock_guard guard(own.lock);
    own.done = true;
    own.changed.notify_all();
  };
  begin(copy);
  std::unique_lock guard(copy.lock);
  copy.changed.wait(guard, [&] { return copy.done; });
}

void Wire::forget(const void *owner) {
  std::unique_lock guard(lock);
  delivered.wait(guard, [&] { return calling != owner; });
}

size_t Wire::flowing() const {
  return size_t(std::count_if(flows.begin(), flows.end(),
                              [this](const Flow &flow) { return flow.begin <= clock && flow.bytesLeft > 0; }));
}

// When a flow begins or ends next; else the limit.
double Wire::nextChange(double limit) const {
  auto sharing = double(flowing());
  for (const Flow &flow : flows)
    if (flow.begin > clock)
      limit = std::min(limit, flow.begin);
    else if (flow.bytesLeft > 0)
      limit = std::min(limit, clock + rates.rate.nanoseconds(flow.bytesLeft) * sharing);
  return limit;
}

void Wire::advanceTo(double ns) {
  while (clock < ns) {
    double next = nextChange(ns);
    auto sharing = double(flowing());
    for (Flow &flow : flows) {
      if (flow.begin > clock || !(flow.bytesLeft > 0)) continue;
      // By the same expression as above, so that what ends, ends.
      bool ends = clock + rates.rate.nanoseconds(flow.bytesLeft) * sharing <= next;
      flow.bytesLeft -= (next - clock) * rates.rate.bytesPerSecond() / 1e9 / sharing;
      if (ends || flow.bytesLeft < 0) flow.bytesLeft = 0;
    }
    clock = next;
  }
}

// The bytes of a copy that is new: its target is nobody else's until it has arrived. Without the lock meanwhile.
bool Wire::moveBytes(std::unique_lock<std::mutex> &guard) {
  auto fresh = std::find_if(flows.begin(), flows.end(), [](const Flow &flow) { return !flow.moved; });
  if (fresh == flows.end()) return false;
  fresh->moved = true; // only this thread takes flows away
  WiredCopy *copy = fresh->copy;
  guard.unlock();
  std::memmove(copy->target, copy->source, copy->bytes);
  guard.lock();
  return true;
}

bool Wire::deliver(std::unique_lock<std::mutex> &guard) {
  auto over = std::find_if(flows.begin(), flows.end(),
                           [this](const Flow &flow) { return flow.begin <= clock && flow.bytesLeft == 0; });
  if (over == flows.end()) return false;
  WiredCopy *copy = over->copy;
  flows.erase(over);
  calling = copy->owner;
  guard.unlock();
  copy->arrived(*copy);
  guard.lock();
  calling = nullptr;
  delivered.notify_all();
  return true;
}

void Wire::threadLoop() {
  runAnywhere();
  wakeOnTime();
  std::unique_lock guard(lock);
  while (!closing) {
    if (moveBytes(guard)) continue;
    advanceTo(now());
    if (deliver(guard)) continue;
    double next = nextChange(kNever);
    if (next == kNever)
      changed.wait(guard);
    else
      changed.wait_until(guard, origin + std::chrono::nanoseconds(int64_t(next) + 1));
  }
}

} // namespace sprig::rt::core
