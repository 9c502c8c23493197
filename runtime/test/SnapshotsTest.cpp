// Versions of a state: a learner makes them, actors run on the newest one meanwhile.
#include "runtime/test/TestPackage.h"
#include "sprig/rt/memory.h"
#include <atomic>
#include <gtest/gtest.h>
#include <thread>

namespace sprig::rt::test {
namespace {

constexpr uint32_t kElements = 4096;

/// A state whose elements are all 5 at first: `step` adds its input to each, `main` gives them.
TestPackage counters() {
  TestPackage package;
  package.addConstant(std::vector<uint32_t>(kElements, 5));
  package.program.states.push_back({{"counters", SPRIG_RT_U32, {kElements}, 0}, 0});
  EntryBuilder step("step"), main("main");
  uint32_t one = step.input("one", {kElements});
  uint32_t counter = step.state(0, 4 * kElements);
  step.dispatch(0, Add, {counter, one, counter}, kElements);
  step.entry.updatesState = true;
  uint32_t value = main.output("value", {kElements});
  main.copy(0, main.state(0, 4 * kElements), value);
  package.program.entries = {step.entry, main.entry};
  return package;
}

TEST(Snapshots, AreWholeAndNobodyIsBusy) {
  Package package = counters().load();
  Pool pool(1);
  const uint64_t before = memory::allocated();
  Snapshots snapshots(package);
  std::atomic<bool> isOver = false;
  std::atomic<uint64_t> answers = 0;
  auto act = [&] {
    Snapshots::Reader reader(snapshots);
    Context context(package, {&pool, &reader.state(), 0});
    Words value(kElements);
    for (uint64_t last = 0; !isOver; ++answers) {
      const uint64_t number = reader.update();
      ASSERT_GE(number, last);
      last = number;
      context.invoke({}, {value.view()});
      for (uint32_t i = 0; i < kElements; ++i) ASSERT_EQ(value[i], 5 + number) << "element " << i;
    }
  };
  std::thread first(act), second(act);
  State state(package);
  Context learner(package, {&pool, &state, 0});
  Words one(kElements, 1);
  uint64_t published = 0;
  for (auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(300);
       std::chrono::steady_clock::now() < end || answers < 100;) {
    learner.invoke({one.view()}, {}, 0);
    ASSERT_EQ(snapshots.publish(state), ++published);
  }
  isOver = true;
  first.join();
  second.join();
  // The newest, one that each actor has and one that it looks at, and the next.
  EXPECT_LE(memory::allocated() - before, 7 * 4 * kElements + 64 * kElements);
  Snapshots::Reader late(snapshots);
  EXPECT_EQ(late.update(), published);
}

TEST(Snapshots, BeginWithWhatThePackageHasAndReuseVersions) {
  Package package = counters().load();
  Snapshots snapshots(package);
  Snapshots::Reader reader(snapshots, {"main"});
  Context context(package, {nullptr, &reader.state(), 0});
  Words value(kElements), one(kElements, 1);
  context.invoke({}, {value.view()}, 1);
  EXPECT_EQ(value[kElements - 1], 5u);
  State state(package);
  Context learner(package, {nullptr, &state, 0});
  learner.invoke({one.view()}, {}, 0);
  EXPECT_EQ(snapshots.publish(state), 1u);
  // A reader keeps its version until it takes another.
  context.invoke({}, {value.view()}, 1);
  EXPECT_EQ(value[0], 5u);
  EXPECT_EQ(reader.update(), 1u);
  EXPECT_EQ(reader.update(), 1u);
  context.invoke({}, {value.view()}, 1);
  EXPECT_EQ(value[0], 6u);
  const uint64_t before = memory::allocated();
  for (uint64_t i = 2; i < 10; ++i) {
    EXPECT_EQ(snapshots.publish(state), i);
    EXPECT_EQ(reader.update(), i);
  }
  EXPECT_EQ(memory::allocated(), before);
}

TEST(Snapshots, AreCopiedWhereMemoryIsNotTheHosts) {
  Package package = counters().load({.device = "null:0"});
  Snapshots snapshots(package);
  Snapshots::Reader reader(snapshots);
  State state(package);
  Context learner(package, {nullptr, &state, 0}), actor(package, {nullptr, &reader.state(), 0});
  Words value(kElements), one(kElements, 1);
  learner.invoke({one.view()}, {}, 0);
  snapshots.publish(state);
  actor.invoke({}, {value.view()}, 1);
  EXPECT_EQ(value[7], 5u);
  EXPECT_EQ(reader.update(), 1u);
  actor.invoke({}, {value.view()}, 1);
  EXPECT_EQ(value[7], 6u);
}

TEST(Snapshots, RefuseEntriesThatUpdateTheState) {
  Package package = counters().load();
  Snapshots snapshots(package);
  EXPECT_EQ(errorOf([&] { Snapshots::Reader(snapshots, {"main", "step"}); }),
            "entry 'step': expected one that reads the state, found one that updates it");
}

} // namespace
} // namespace sprig::rt::test
