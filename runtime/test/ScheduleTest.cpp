// Lanes, events and tiles over threads: any schedule and any number of threads give what a serial run gives.
#include "runtime/test/RandomGraph.h"

#include <atomic>
#include <chrono>
#include <ctime>
#include <gtest/gtest.h>
#include <thread>

namespace sprig::rt::test {
namespace {

void expectRuns(Context &context, const RandomGraph &graph, uint32_t start, int rounds) {
  Words in(kWidth), out(kWidth);
  for (int round = 0; round < rounds; ++round) {
    for (size_t i = 0; i < in.size(); ++i) in[i] = start + uint32_t(round) * 1000003u + uint32_t(i);
    context.invoke({in.view()}, {out.view()});
    std::vector<uint32_t> want = graph.expected(in);
    for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], want[i]) << "word " << i << " of round " << round;
  }
}

class GraphsOverThreads : public testing::TestWithParam<int> {};

TEST_P(GraphsOverThreads, EqualASerialRun) {
  Pool pool(GetParam());
  for (uint32_t seed = 0; seed < 12; ++seed) {
    RandomGraph graph(seed, 1 + seed % 5, 3 + int(seed) * 7);
    Context context(graph.package.load(), {&pool, nullptr, 0});
    expectRuns(context, graph, seed, 20);
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, GraphsOverThreads, testing::Values(1, 2, 3, 8));

TEST(Schedule, ManyContextsShareOnePackageAndPool) {
  RandomGraph graph(99, 3, 40);
  Package package = graph.package.load();
  Pool pool(3);
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      // Contexts come and go while helpers look at others.
      for (int life = 0; life < 5; ++life) {
        Context context(package, {&pool, nullptr, 0});
        expectRuns(context, graph, t * 77, 15);
      }
    });
  for (std::thread &thread : threads) thread.join();
}

TEST(Schedule, RunsOnTheEmbeddersExecutor) {
  struct Threads {
    std::mutex lock;
    std::vector<std::thread> list;
    std::atomic<int> tasks{0};
  } threads;
  sprig_rt_executor executor = {&threads, [](void *user, void (*task)(void *), void *argument) {
                                  auto &all = *static_cast<Threads *>(user);
                                  ++all.tasks;
                                  std::lock_guard guard(all.lock);
                                  all.list.emplace_back(task, argument);
                                }};
  {
    RandomGraph graph(5, 4, 30);
    Pool pool(3, &executor);
    Context context(graph.package.load(), {&pool, nullptr, 0});
    expectRuns(context, graph, 1, 10);
    Words in(kWidth, 3), out(kWidth);
    context.submit({in.view()}, {out.view()}).wait();
    EXPECT_EQ(out[0], graph.expected(in)[0]);
  }
  EXPECT_GT(threads.tasks.load(), 0);
  for (std::thread &thread : threads.list) thread.join();
}

TEST(Schedule, AnExecutorMayRunItsTasksAtOnce) {
  sprig_rt_executor executor = {nullptr, [](void *, void (*task)(void *), void *argument) { task(argument); }};
  RandomGraph graph(8, 3, 20);
  Pool pool(3, &executor);
  Context context(graph.package.load(), {&pool, nullptr, 0});
  expectRuns(context, graph, 4, 5);
  Words in(kWidth, 1), out(kWidth);
  Future future = context.submit({in.view()}, {out.view()});
  EXPECT_TRUE(future.ready());
  EXPECT_EQ(out[5], graph.expected(in)[5]);
}

// A sleeping helper is called for work that adds up to what calling costs, not for each small command.
TEST(Schedule, CallsSleepingHelpersForWorkThatPays) {
  struct Threads {
    std::vector<std::thread> list;
    int tasks = 0;
  } threads;
  sprig_rt_executor executor = {&threads, [](void *user, void (*task)(void *), void *argument) {
                                  auto &all = *static_cast<Threads *>(user);
                                  ++all.tasks;
                                  all.list.emplace_back(task, argument);
                                }};
  auto tasksOf = [&](uint64_t flops, int calls) {
    TestPackage package;
    EntryBuilder entry("count");
    uint32_t counts = entry.output("counts", {8});
    entry.dispatch(0, Count, {counts}, 8, 1);
    entry.entry.lanes[0].commands[0].flops = flops;
    package.program.entries.push_back(entry.entry);
    Pool pool(2, &executor);
    Context context(package.load(), {&pool, nullptr, 0});
    Words out(8, 0);
    threads.tasks = 0;
    for (int call = 0; call < calls; ++call) context.invoke({}, {out.view()});
    for (size_t i = 0; i < 8; ++i) EXPECT_EQ(out[i], uint32_t(calls));
    return threads.tasks;
  };
  // About a nanosecond each, a microsecond each, a second each.
  EXPECT_EQ(tasksOf(60, 1000), 0);
  int some = tasksOf(60000, 1000);
  EXPECT_GE(some, 1);
  EXPECT_LE(some, 50);
  EXPECT_EQ(tasksOf(60000000000, 1), 1);
  for (std::thread &thread : threads.list) thread.join();
}

// Two pools of two threads and a host that keeps a processor busy: everybody gets on, and afterwards nobody spins.
TEST(Schedule, PoolsShareAFullMachine) {
  std::atomic<bool> end{false};
  std::thread host([&] {
    while (!end.load(std::memory_order_relaxed)) {
    }
  });
  constexpr uint32_t calls = 200;
  auto serve = [&](int64_t tiles) {
    TestPackage package;
    EntryBuilder entry("count");
    uint32_t counts = entry.output("counts", {tiles});
    for (int i = 0; i < 4; ++i) entry.dispatch(0, Count, {counts}, tiles, 1);
    package.program.entries.push_back(entry.entry);
    Pool pool(2);
    Context context(package.load(), {&pool, nullptr, 0});
    Words out(size_t(tiles), 0);
    for (uint32_t call = 0; call < calls; ++call) context.invoke({}, {out.view()});
    for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], 4 * calls) << "tile " << i;
  };
  std::thread other([&] { serve(64); });
  serve(1000);
  other.join();
  end = true;
  host.join();
  // An idle pool sleeps: its threads take next to no time while this one does.
  Pool idle(2);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  auto before = std::clock();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_LT(double(std::clock() - before) / CLOCKS_PER_SEC, 0.1);
}

class TilesOverThreads : public testing::TestWithParam<std::tuple<int, int64_t, int64_t>> {};

TEST_P(TilesOverThreads, VisitEachTileOnce) {
  auto [threads, tiles, grain] = GetParam();
  TestPackage package;
  EntryBuilder entry("count");
  uint32_t counts = entry.output("counts", {tiles});
  entry.dispatch(0, Count, {counts}, tiles, grain);
  package.program.entries.push_back(entry.entry);
  Pool pool(threads);
  Context context(package.load(), {&pool, nullptr, 0});
  Words out(size_t(tiles), 0);
  constexpr uint32_t rounds = 100;
  for (uint32_t round = 0; round < rounds; ++round) context.invoke({}, {out.view()});
  for (size_t i = 0; i < out.size(); ++i) ASSERT_EQ(out[i], rounds) << "tile " << i;
}

// Tiles that no number of threads divides, fewer tiles than threads, grains larger than the work.
INSTANTIATE_TEST_SUITE_P(Sizes, TilesOverThreads,
                         testing::Combine(testing::Values(1, 2, 3, 7),
                                          testing::Values<int64_t>(1, 2, 5, 17, 1000, 4099),
                                          testing::Values<int64_t>(1, 4, 5000)));

TEST(Schedule, KernelsHaveScratchOfTheirOwn) {
  TestPackage package;
  EntryBuilder entry("main");
  uint32_t in = entry.input("x", {4096}), out = entry.output("y", {4096});
  entry.dispatch(0, Scratch, {in, out}, 4096, 1);
  package.program.entries.push_back(entry.entry);
  Pool pool(4);
  Context context(package.load(), {&pool, nullptr, 0});
  Words x(4096), y(4096);
  for (size_t i = 0; i < x.size(); ++i) x[i] = uint32_t(i * 2654435761u);
  for (int round = 0; round < 20; ++round) {
    context.invoke({x.view()}, {y.view()});
    for (size_t i = 0; i < x.size(); ++i) ASSERT_EQ(x[i], y[i]);
  }
}

TEST(Schedule, ACallersThreadAloneFinishesAllLanes) {
  // Lane 0 waits for lane 1, which waits for lane 2, with nobody to help.
  TestPackage package;
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {1}), y = entry.output("y", {1});
  uint32_t t = entry.arena(4), u = entry.arena(4);
  uint32_t first = entry.event(), second = entry.event();
  entry.wait(0, second);
  entry.dispatch(0, Add, {u, x, y}, 1);
  entry.wait(1, first);
  entry.dispatch(1, Add, {t, x, u}, 1);
  entry.record(1, second);
  entry.dispatch(2, Add, {x, x, t}, 1);
  entry.record(2, first);
  package.program.entries.push_back(entry.entry);
  Pool pool(1);
  Context context(package.load(), {&pool, nullptr, 0});
  Words in(1, 5), out(1);
  context.invoke({in.view()}, {out.view()});
  EXPECT_EQ(out[0], 20u);
}

TEST(Schedule, AFailureInALaneEndsAllLanes) {
  TestPackage package;
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {1}), zero = entry.input("zero", {1}), y = entry.output("y", {1});
  uint32_t t = entry.arena(4);
  uint32_t done = entry.event();
  entry.wait(0, done);
  entry.dispatch(0, Add, {t, x, y}, 1);
  entry.dispatch(1, Divide, {x, zero, t}, 1);
  entry.record(1, done);
  package.program.entries.push_back(entry.entry);
  Pool pool(2);
  Context context(package.load(), {&pool, nullptr, 0});
  Words one(1, 1), none(1, 0), out(1, 42);
  for (int round = 0; round < 50; ++round)
    ASSERT_EQ(errorOf([&] { context.invoke({one.view(), none.view()}, {out.view()}); }),
              "entry 'main': 'first_divide': integer division by zero");
  EXPECT_EQ(out[0], 42u);
}

TEST(Schedule, RefusesImpossiblePools) {
  EXPECT_EQ(errorOf([] { Pool pool(-1); }), "expected 1 to 1024 threads, found -1");
  EXPECT_EQ(errorOf([] { Pool pool(2000); }), "expected 1 to 1024 threads, found 2000");
  EXPECT_GE(sprig_rt_default_threads(), 1);
}

} // namespace
} // namespace sprig::rt::test
