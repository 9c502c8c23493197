// Submitted runs: order, waiting, questions that never wait, timeouts, cancellation, errors.
#include "runtime/test/TestPackage.h"

#include <chrono>
#include <gtest/gtest.h>
#include <thread>

namespace sprig::rt::test {
namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

// Cycles of the time stamp counter in this many milliseconds, by measurement.
uint64_t cyclesFor(int milliseconds) {
  static const double perMs = [] {
    uint64_t start = __builtin_ia32_rdtsc();
    auto begin = SteadyClock::now();
    while (SteadyClock::now() - begin < 20ms) {
    }
    return double(__builtin_ia32_rdtsc() - start) /
           std::chrono::duration<double, std::milli>(SteadyClock::now() - begin).count();
  }();
  return uint64_t(perMs * milliseconds);
}

// Entry "slow": `commands` kernels one after the other, each of the given time.
struct SlowRun {
  explicit SlowRun(int milliseconds, int commands = 1, uint32_t queueLimit = 0)
      : context(make(commands), {nullptr, nullptr, queueLimit}) {
    cycles.as<uint64_t>()[0] = cyclesFor(milliseconds);
  }
  static Package make(int commands) {
    TestPackage package;
    EntryBuilder entry("slow");
    uint32_t cycles = entry.input("cycles", {1}, SPRIG_RT_U64), out = entry.output("out", {1});
    for (int i = 0; i < commands; ++i) entry.dispatch(0, Slow, {cycles, out}, 1);
    package.program.entries.push_back(entry.entry);
    return package.load();
  }
  Future submit() { return context.submit({cycles.view()}, {out.view()}); }

  Array cycles{SPRIG_RT_U64, {1}};
  Words out{1, 0};
  Context context;
};

double millisecondsOf(auto action) {
  auto start = SteadyClock::now();
  action();
  return std::chrono::duration<double, std::milli>(SteadyClock::now() - start).count();
}

TEST(Submit, ReadingWaitsForTheRun) {
  SlowRun run(100);
  auto start = SteadyClock::now();
  Future future = run.submit();
  EXPECT_FALSE(future.ready());
  future.wait();
  EXPECT_GE(SteadyClock::now() - start, 99ms);
  EXPECT_TRUE(future.ready());
  EXPECT_EQ(run.out[0], 1u);
}

TEST(Submit, WhoComesLateLearnsWhenItEnded) {
  SlowRun run(20, 10);
  auto start = SteadyClock::now();
  Future first = run.submit(), second = run.submit();
  EXPECT_EQ(first.endedAt(), SteadyClock::time_point());
  second.wait();
  auto seen = SteadyClock::now();
  std::this_thread::sleep_for(5ms);
  EXPECT_GE(first.endedAt(), start + 199ms);
  EXPECT_GE(second.endedAt(), first.endedAt() + 199ms);
  EXPECT_LE(second.endedAt(), seen);
}

TEST(Submit, QuestionsAboutTheResultNeverWait) {
  SlowRun run(300);
  Future future = run.submit();
  std::this_thread::sleep_for(5ms);
  TensorInfo info;
  double took = millisecondsOf([&] {
    for (int i = 0; i < 100; ++i) {
      info = future.output(0);
      EXPECT_FALSE(future.ready());
    }
  });
  EXPECT_LT(took / 100, 1.0);
  EXPECT_EQ(info.name, "out");
  EXPECT_EQ(info.shape, std::vector<int64_t>{1});
  EXPECT_EQ(info.dtype, SPRIG_RT_U32);
  EXPECT_EQ(info.bytes, 4u);
  EXPECT_EQ(errorOf([&] { future.output(1); }), "expected an output below 1, got 1");
  future.wait();
}

TEST(Submit, SubmittingReturnsAtOnce) {
  SlowRun run(150);
  std::vector<Future> futures;
  double took = millisecondsOf([&] {
    for (int i = 0; i < 4; ++i) futures.push_back(run.submit());
  });
  EXPECT_LT(took, 150);
  // In order: when the last is ready, all are.
  futures.back().wait();
  for (const Future &future : futures) EXPECT_TRUE(future.ready());
}

TEST(Submit, WaitingEndsAtATimeoutAndTheRunGoesOn) {
  SlowRun run(400);
  Future future = run.submit();
  double took = millisecondsOf([&] { EXPECT_FALSE(future.waitFor(10ms)); });
  EXPECT_GE(took, 9);
  EXPECT_LT(took, 390);
  EXPECT_TRUE(future.waitFor(10s));
  EXPECT_EQ(run.out[0], 1u);
}

TEST(Submit, CancelStopsAtTheNextCommand) {
  SlowRun run(20, 200);
  Future future = run.submit();
  std::this_thread::sleep_for(100ms);
  sprig_rt_code code = SPRIG_RT_OK;
  double took = millisecondsOf([&] {
    future.cancel();
    EXPECT_EQ(errorOf([&] { future.wait(); }, &code), "entry 'slow': the run was cancelled");
  });
  EXPECT_EQ(code, SPRIG_RT_CANCELLED);
  EXPECT_LT(took, 1000);
  // The next run is not touched.
  run.cycles.as<uint64_t>()[0] = 0;
  run.submit().wait();
}

TEST(Submit, CancellingAQueuedRunStopsOnlyThatOne) {
  SlowRun run(200);
  Future first = run.submit(), second = run.submit(), third = run.submit();
  second.cancel();
  EXPECT_TRUE(second.ready());
  EXPECT_EQ(errorOf([&] { second.wait(); }), "the run was cancelled before it started");
  first.wait();
  third.wait();
  // A run that has ended can't be cancelled any more.
  third.cancel();
  third.wait();
}

TEST(Submit, InvokeCanBeCancelledFromAnotherThread) {
  SlowRun run(10, 500);
  std::thread other([&] {
    std::this_thread::sleep_for(30ms);
    run.context.cancel();
  });
  sprig_rt_code code = SPRIG_RT_OK;
  errorOf([&] { run.context.invoke({run.cycles.view()}, {run.out.view()}); }, &code);
  other.join();
  EXPECT_EQ(code, SPRIG_RT_CANCELLED);
}

TEST(Submit, InvokeRunsAfterWhatWasSubmitted) {
  SlowRun run(50);
  Future future = run.submit();
  run.context.invoke({run.cycles.view()}, {run.out.view()});
  EXPECT_TRUE(future.ready());
}

TEST(Submit, TheQueueIsBounded) {
  SlowRun run(40, 1, 2);
  double took = millisecondsOf([&] {
    for (int i = 0; i < 4; ++i) run.submit();
  });
  EXPECT_GE(took, 60);
}

TEST(Submit, ErrorsOfArgumentsComeAtOnceAndErrorsOfTheRunWithTheFuture) {
  TestPackage package;
  EntryBuilder entry("main");
  uint32_t a = entry.input("a", {1}), b = entry.input("b", {1}), q = entry.output("q", {1});
  entry.dispatch(0, Divide, {a, b, q}, 1);
  package.program.entries.push_back(entry.entry);
  Context context(package.load());
  Words one(2, 1), zero(1, 0), out(1);
  EXPECT_EQ(errorOf([&] { context.submit({one.view({2}), zero.view()}, {out.view()}); }),
            "input 0 'a': expected 1xui32, got 2xui32");
  Future future = context.submit({one.view({1}), zero.view()}, {out.view()});
  EXPECT_EQ(errorOf([&] { future.wait(); }), "entry 'main': 'first_divide': integer division by zero");
  // As often as one asks.
  EXPECT_EQ(errorOf([&] { future.waitFor(1s); }), "entry 'main': 'first_divide': integer division by zero");
}

TEST(Submit, ReleasingAContextWaitsForItsRuns) {
  Words out(1, 0);
  {
    SlowRun run(30);
    run.context.submit({run.cycles.view()}, {out.view()});
  }
  EXPECT_EQ(out[0], 1u);
}

TEST(Submit, AStateHasOneWriterOrManyReaders) {
  // Entry 0 updates the state slowly, entry 1 reads it slowly.
  TestPackage made;
  made.addConstant({0});
  made.program.states.push_back({{"s", SPRIG_RT_U32, {1}, 0}, 0});
  for (bool updates : {true, false}) {
    EntryBuilder entry(updates ? "write" : "read");
    uint32_t cycles = entry.input("cycles", {1}, SPRIG_RT_U64), out = entry.output("out", {1});
    entry.dispatch(0, Slow, {cycles, out}, 1);
    entry.dispatch(0, Add, {out, out, updates ? entry.state(0, 4) : out}, 1);
    entry.copy(0, entry.state(0, 4), out);
    entry.entry.updatesState = updates;
    made.program.entries.push_back(entry.entry);
  }
  Package package = made.load();
  State state(package);
  Context first(package, {nullptr, &state, 0}), second(package, {nullptr, &state, 0});
  Array cycles(SPRIG_RT_U64, {1});
  cycles.as<uint64_t>()[0] = cyclesFor(300);
  Words a(1), b(1);
  auto together = [&](int32_t one, int32_t other) {
    Future running = first.submit({cycles.view()}, {a.view()}, one);
    std::this_thread::sleep_for(100ms);
    sprig_rt_code code = SPRIG_RT_OK;
    errorOf([&] { second.invoke({cycles.view()}, {b.view()}, other); }, &code);
    running.wait();
    return code;
  };
  EXPECT_EQ(together(0, 0), SPRIG_RT_BUSY);
  EXPECT_EQ(together(0, 1), SPRIG_RT_BUSY);
  EXPECT_EQ(together(1, 0), SPRIG_RT_BUSY);
  EXPECT_EQ(together(1, 1), SPRIG_RT_OK);
  EXPECT_EQ(b[0], 2u);
}

TEST(Submit, AContextInUseTellsASecondThread) {
  SlowRun run(300);
  std::thread first([&] { run.context.invoke({run.cycles.view()}, {run.out.view()}); });
  std::this_thread::sleep_for(100ms);
  sprig_rt_code code = SPRIG_RT_OK;
  Words out(1);
  errorOf([&] { run.context.invoke({run.cycles.view()}, {out.view()}); }, &code);
  first.join();
  EXPECT_EQ(code, SPRIG_RT_BUSY);
}

} // namespace
} // namespace sprig::rt::test
