// Threads leave a processor without losing it.
#include "runtime/machine/Machine.h"

#include <atomic>
#include <chrono>
#include <gtest/gtest.h>
#include <sched.h>
#include <thread>
#include <unistd.h>
#include <vector>

namespace sprig::rt::core {
namespace {

cpu_set_t usable() {
  cpu_set_t set;
  CPU_ZERO(&set);
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  return set;
}

TEST(CpuPlace, AThreadLeavesAProcessorThatItMayComeBackTo) {
  cpu_set_t before = usable();
  if (CPU_COUNT(&before) < 2) GTEST_SKIP() << "there is one processor";
  // The system may bring it back at any time, so it is not always elsewhere afterwards.
  int left = 0;
  for (int i = 0; i < 20; ++i) {
    int cpu = currentCpu();
    ASSERT_TRUE(leaveCpu(cpu, 2));
    left += currentCpu() != cpu;
    cpu_set_t after = usable();
    ASSERT_TRUE(CPU_EQUAL(&before, &after));
  }
  EXPECT_GT(left, 0);
}

TEST(CpuPlace, NothingIsLeftWhereThereAreMoreThreadsThanProcessors) {
  cpu_set_t before = usable();
  EXPECT_FALSE(leaveCpu(currentCpu(), CPU_COUNT(&before) + 1));
  EXPECT_FALSE(leaveCpu(-1, 2));
  EXPECT_FALSE(leaveCpu(CPU_SETSIZE, 2));
  int cpu = currentCpu();
  std::thread([&] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_FALSE(leaveCpu(cpu, 1));
  }).join();
}

TEST(CpuPlace, ABusySystemHasNoIdleProcessor) {
  if (access("/proc/loadavg", R_OK) != 0) {
    EXPECT_FALSE(hasIdleCpu());
    return;
  }
  std::atomic<bool> stop = false;
  std::vector<std::thread> busy;
  for (long i = sysconf(_SC_NPROCESSORS_ONLN); i > 0; --i)
    busy.emplace_back([&] {
      while (!stop.load()) {
      }
    });
  // This thread is one more, whenever it looks.
  auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  bool wasBusy = false;
  while (!(wasBusy = !hasIdleCpu()) && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  EXPECT_TRUE(wasBusy);
  stop = true;
  for (std::thread &each : busy) each.join();
}

} // namespace
} // namespace sprig::rt::core
