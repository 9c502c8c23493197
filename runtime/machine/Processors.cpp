#include "runtime/machine/Processors.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <unistd.h>

namespace sprig::rt::core {

namespace {

constexpr int kNodes = 64; // looked for; processors of nodes with larger numbers count as of node 0

// "FOLDER/cpu/cpuNUMBER/REST"
struct Path {
  Path(const char *folder, int number, const char *rest, int index = 0) {
    int size = std::snprintf(text, sizeof text, "%s/cpu/cpu%d/", folder, number);
    std::snprintf(text + size, sizeof text - size_t(size), rest, index);
  }
  char text[512];
};

int numberIn(const Path &path, int otherwise) {
  char digits[16] = "";
  int file = ::open(path.text, O_RDONLY | O_CLOEXEC);
  if (file < 0) return otherwise;
  ssize_t size = ::read(file, digits, sizeof digits - 1);
  ::close(file);
  return size > 0 && digits[0] >= '0' && digits[0] <= '9' ? std::atoi(digits) : otherwise;
}

std::atomic<bool> someBound{false};

// Processors that bindCaller has bound a thread to.
std::atomic<bool> isTaken[CPU_SETSIZE];
struct Taken {
  int end = 0; // the processor's number and 1, or 0
  ~Taken() { leave(); }
  void leave() {
    if (end) isTaken[end - 1].store(false);
  }
};
thread_local Taken taken;

} // namespace

size_t describeProcessors(const cpu_set_t &usable, const char *devices, Processor (&order)[CPU_SETSIZE]) {
  size_t count = 0;
  for (int number = 0; number < CPU_SETSIZE; ++number) {
    if (!CPU_ISSET(number, &usable)) continue;
    Processor fresh{number, numberIn({devices, number, "topology/physical_package_id"}, 0),
                    numberIn({devices, number, "topology/core_id"}, number)};
    while (fresh.node < kNodes && ::access(Path(devices, number, "node%d", fresh.node).text, F_OK) != 0) ++fresh.node;
    fresh.node %= kNodes;
    for (size_t i = 0; i < count; ++i) fresh.thread += order[i].isOfCoreOf(fresh);
    auto isBefore = [&](const Processor &each) {
      return fresh.thread == each.thread ? fresh < each : fresh.thread < each.thread;
    };
    size_t at = count++;
    for (; at > 0 && isBefore(order[at - 1]); --at) order[at] = order[at - 1];
    order[at] = fresh;
  }
  return count;
}

std::span<const Processor> usableProcessors() {
  static Processor order[CPU_SETSIZE];
  static const size_t count = [] {
    cpu_set_t usable;
    CPU_ZERO(&usable);
    ::sched_getaffinity(0, sizeof usable, &usable);
    return describeProcessors(usable, "/sys/devices/system", order);
  }();
  return {order, count};
}

bool bindThread(pthread_t thread, int processor) {
  if (processor != kAnyProcessor)
    someBound.store(true);
  else if (!someBound.load())
    return true;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const Processor &each : usableProcessors())
    if (processor == kAnyProcessor || each.number == processor) CPU_SET(each.number, &set);
  return ::pthread_setaffinity_np(thread, sizeof set, &set) == 0;
}

void bindCaller(int processor) {
  if (taken.end == processor + 1 || isTaken[processor].load(std::memory_order_relaxed)) return;
  if (isTaken[processor].exchange(true)) return;
  taken.leave();
  taken.end = processor + 1;
  bindThread(::pthread_self(), processor);
}

void runAnywhere() { bindThread(::pthread_self(), kAnyProcessor); }

} // namespace sprig::rt::core
