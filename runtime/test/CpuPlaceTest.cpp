// Threads leave a processor without losing it, and are pinned to processors.
#include "runtime/api/Handles.h"
#include "runtime/machine/Machine.h"
#include "runtime/machine/Processors.h"
#include "runtime/test/TestPackage.h"
#include "sprig/rt/profile.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <mutex>
#include <sched.h>
#include <span>
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

// As Linux numbers two nodes of two cores with two threads each.
TEST(CpuPlace, ThreadsOfAPoolTakeCoresFirstAndNodesOneByOne) {
  namespace fs = std::filesystem;
  fs::path devices = fs::temp_directory_path() / concat("sprig-processors-", ::getpid()).text();
  cpu_set_t all, some;
  CPU_ZERO(&all);
  CPU_ZERO(&some);
  for (int number = 0; number < 8; ++number) {
    CPU_SET(number, &all);
    fs::path folder = devices / "cpu" / concat("cpu", number).text();
    fs::create_directories(folder / "topology");
    fs::create_directories(folder / concat("node", number % 2).text());
    std::ofstream(folder / "topology/physical_package_id") << number % 2;
    std::ofstream(folder / "topology/core_id") << number % 4 / 2;
  }
  for (int number : {1, 4, 5, 6}) CPU_SET(number, &some);
  auto numbersOf = [&](const cpu_set_t &usable) {
    std::vector<int> numbers;
    Processor order[CPU_SETSIZE];
    size_t count = describeProcessors(usable, devices.c_str(), order);
    for (const Processor &each : std::span(order, count)) {
      EXPECT_EQ(each.node, each.number % 2);
      numbers.push_back(each.number);
    }
    return numbers;
  };
  EXPECT_EQ(numbersOf(all), (std::vector{0, 2, 1, 3, 4, 6, 5, 7}));
  EXPECT_EQ(numbersOf(some), (std::vector{4, 6, 1, 5}));
  fs::remove_all(devices);
  // Nothing is known of them: cores of one node.
  Processor unknown[CPU_SETSIZE];
  ASSERT_EQ(describeProcessors(some, devices.c_str(), unknown), 4u);
  for (size_t i = 1; i < 4; ++i) {
    EXPECT_LT(unknown[i - 1].number, unknown[i].number);
    EXPECT_EQ(unknown[i].node, 0);
    EXPECT_FALSE(unknown[i].isOfCoreOf(unknown[i - 1]));
  }
}

std::vector<int> numbersIn(const cpu_set_t &set) {
  std::vector<int> numbers;
  for (int number = 0; number < CPU_SETSIZE; ++number)
    if (CPU_ISSET(number, &set)) numbers.push_back(number);
  return numbers;
}

// The processors that each helper of a pool may use.
std::vector<std::vector<int>> processorsOfHelpers(Pool &pool) {
  struct Look final : Helped {
    explicit Look(size_t helpers) : processors(helpers) {}
    bool help(uint32_t participant) override {
      std::lock_guard guard(lock);
      processors[participant - 1] = numbersIn(usable());
      return false;
    }
    bool haveAll() {
      std::lock_guard guard(lock);
      return std::none_of(processors.begin(), processors.end(), [](const auto &each) { return each.empty(); });
    }
    std::mutex lock;
    std::vector<std::vector<int>> processors;
  } look(pool.threads() - 1);
  pool.publish(look);
  while (!look.haveAll()) {
    pool.wake();
    std::this_thread::yield();
  }
  pool.unpublish(look);
  pool.forget(look);
  return look.processors;
}

std::vector<std::vector<int>> usableFrom(size_t first, size_t count) {
  std::vector<std::vector<int>> each;
  for (size_t i = first; i < first + count; ++i) each.push_back({usableProcessors()[i].number});
  return each;
}

TEST(CpuPlace, ThreadsThatArePinnedHaveAProcessorEach) {
  int threads = int(std::min<size_t>(usableProcessors().size(), 4));
  std::shared_ptr<Pool> pool, behind;
  ASSERT_TRUE(Pool::create({.threads = threads, .pin = 1}, pool).isOk());
  EXPECT_EQ(processorsOfHelpers(*pool), usableFrom(1, size_t(threads) - 1));
  if (threads < 2) return;
  ASSERT_TRUE(Pool::create({.threads = threads - 1, .pin = 2}, behind).isOk());
  EXPECT_EQ(processorsOfHelpers(*behind), usableFrom(2, size_t(threads) - 2));
}

TEST(CpuPlace, OneCallerAtATimeIsPinned) {
  std::shared_ptr<Pool> pool;
  ASSERT_TRUE(Pool::create({.threads = 1, .pin = 1}, pool).isOk());
  std::vector<int> before = numbersIn(usable());
  auto call = [&] {
    pool->pinCaller();
    return numbersIn(usable());
  };
  for (int round = 0; round < 2; ++round) // the next one, when it has ended
    std::thread([&] {
      EXPECT_EQ(call(), usableFrom(0, 1).front());
      EXPECT_EQ(call(), usableFrom(0, 1).front());
      // One that it starts is bound as it is, but for the runtime's own threads.
      std::thread([] { EXPECT_EQ(numbersIn(usable()).size(), 1u); }).join();
      std::shared_ptr<Pool> unpinned;
      ASSERT_TRUE(Pool::create({.threads = 2}, unpinned).isOk());
      EXPECT_EQ(processorsOfHelpers(*unpinned).front(), before);
      std::thread([&] {
        runAnywhere();
        EXPECT_EQ(call(), before); // beside the first
      }).join();
    }).join();
  EXPECT_EQ(numbersIn(usable()), before);
}

TEST(CpuPlace, WhatCannotBePinnedIsRefused) {
  auto refusalOf = [](const rt::PoolOptions &options) -> std::string {
    try {
      rt::Pool pool(options);
    } catch (const Error &error) {
      EXPECT_EQ(error.code(), SPRIG_RT_INVALID_ARGUMENT);
      return error.what();
    }
    return "";
  };
  int count = int(usableProcessors().size());
  EXPECT_EQ(refusalOf({.threads = count + 1, .pin = 1}),
            concat("pin: expected a processor for each of ", count + 1, " threads, but this process may use ", count,
                   "; take fewer threads, or do not pin them")
                .text());
  EXPECT_NE(refusalOf({.threads = 1, .pin = count + 1}), "");
  EXPECT_EQ(refusalOf({.threads = 1, .pin = count}), "");
  EXPECT_EQ(refusalOf({.threads = 1, .pin = -1}), "pin: expected 0 or more, found -1");
  sprig_rt_executor executor = {nullptr, [](void *, void (*)(void *), void *) {}};
  EXPECT_NE(refusalOf({.threads = 1, .pin = 1, .executor = &executor}).find("executor"), std::string::npos);
  defaultThreads(); // asked for once, before this
  setenv("SPRIG_LAUNCHED", "1", 1);
  setenv("LOCAL_WORLD_SIZE", "2", 1);
  EXPECT_NE(refusalOf({.threads = 1, .pin = 1}).find("sprig launch --bind cores"), std::string::npos);
  setenv("SPRIG_LAUNCH_BIND", "cores", 1);
  EXPECT_EQ(refusalOf({.threads = 1, .pin = 1}), "");
  for (const char *name : {"SPRIG_LAUNCHED", "LOCAL_WORLD_SIZE", "SPRIG_LAUNCH_BIND"}) unsetenv(name);
}

// Three threads on two nodes, which two processors stand for here: those of the caller's node write the front of an
// array, those of the other one its back.
TEST(CpuPlace, ThreadsOfANodeWriteTheSamePartOfAnArray) {
  int here = usableProcessors().front().number, there = usableProcessors().back().number;
  const Processor several[] = {{here, 0, 0, 0}, {there, 0, 1, 0}, {here, 1, 0, 1}};
  const Processor one[] = {{here, 0, 0, 0}, {there, 0, 1, 0}, {here, 1, 0, 0}};
  sprig_rt_pool pool, plain;
  ASSERT_TRUE(Pool::create({.threads = 3, .pin = 1, .processors = several}, pool.pool).isOk());
  ASSERT_TRUE(Pool::create({.threads = 3, .pin = 1, .processors = one}, plain.pool).isOk());
  for (uint32_t participant = 0; participant < 4; ++participant) {
    EXPECT_EQ(pool.pool->takesFront(participant), participant < 2) << participant;
    EXPECT_EQ(plain.pool->takesFront(participant), participant == 0) << participant; // as it is on one node
  }

  constexpr int64_t kTiles = 64;
  test::TestPackage made;
  test::EntryBuilder entry("main");
  uint32_t cycles = entry.input("cycles", {1}, SPRIG_RT_U64), y = entry.output("y", {kTiles});
  entry.dispatch(0, test::Slow, {cycles, y}, kTiles);
  made.program.entries.push_back(entry.entry);
  rt::Package package = made.load();
  rt::Profile profile;
  int bothHelped = 0; // in one call
  // On a thread of its own, which is bound.
  std::thread([&] {
    sprig_rt_context_options options = {sizeof options, &pool, nullptr, 0};
    sprig_rt_context *context = nullptr;
    rt::check(sprig_rt_context_create(package.raw(), &options, &context));
    rt::check(sprig_rt_profile_start(profile.raw(), context));
    Array count(SPRIG_RT_U64, {1}), out(SPRIG_RT_U32, {kTiles});
    count.as<uint64_t>()[0] = 200'000;
    TensorView cyclesView = count.view(), view = out.view();
    sprig_rt_tensor input = cyclesView.raw(), output = view.raw();
    auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (bothHelped < 3 && std::chrono::steady_clock::now() < end) {
      bool nearHelped = false, farHelped = false;
      rt::check(sprig_rt_invoke(context, 0, &input, 1, &output, 1));
      uint64_t frontEnd = 0, backBegin = kTiles;
      sprig_rt_profile_data data = profile.read();
      for (size_t i = 0; i < data.count; ++i) {
        const sprig_rt_profile_event &event = data.events[i];
        if (event.kind != SPRIG_RT_PROFILE_SLICE) continue;
        nearHelped |= event.participant == 1;
        farHelped |= event.participant == 2;
        if (event.participant < 2)
          frontEnd = std::max<uint64_t>(frontEnd, uint64_t(event.tile_end));
        else
          backBegin = std::min<uint64_t>(backBegin, uint64_t(event.tile_begin));
      }
      ASSERT_LE(frontEnd, backBegin);
      bothHelped += nearHelped && farHelped;
    }
    rt::check(sprig_rt_context_wait(context));
    sprig_rt_context_release(context);
  }).join();
  if (!bothHelped) GTEST_SKIP() << "the helpers had no processor time in one call";
}

// So a page of it is on the node of the thread whose kernel writes it first.
TEST(CpuPlace, AnArenaIsFirstTouchedByARun) {
  constexpr uint64_t kBytes = 64 << 20;
  test::TestPackage made;
  test::EntryBuilder entry("main");
  uint32_t x = entry.input("x", {16}), y = entry.output("y", {16});
  entry.arena(kBytes);
  entry.dispatch(0, test::Add, {x, x, y}, 1);
  made.program.entries.push_back(entry.entry);
  rt::Package package = made.load();
  auto resident = [] {
    std::ifstream file("/proc/self/statm");
    int64_t all = 0, pages = 0;
    file >> all >> pages;
    return pages * sysconf(_SC_PAGE_SIZE);
  };
  int64_t before = resident();
  rt::Context context(package);
  EXPECT_LT(resident() - before, int64_t(kBytes / 4));
}

} // namespace
} // namespace sprig::rt::core
