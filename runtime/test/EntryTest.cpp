// Which entry a call gets, batches that are split or padded, arrays that are strided, unaligned or aliased, state.
#include "runtime/test/TestPackage.h"

#include <cstring>
#include <gtest/gtest.h>
#include <numeric>

namespace sprig::rt::test {
namespace {

// Entries "main" for several batches of rows of 4: y = x + x.
TestPackage batchPackage(const std::vector<int64_t> &batches, bool independent = true) {
  TestPackage package;
  for (int64_t batch : batches) {
    EntryBuilder entry("main");
    uint32_t x = entry.input("x", {batch, 4}), y = entry.output("y", {batch, 4});
    entry.dispatch(0, Add, {x, x, y}, batch * 4);
    entry.entry.independentSamples = independent;
    package.program.entries.push_back(entry.entry);
  }
  return package;
}

struct BatchRun {
  explicit BatchRun(const std::vector<int64_t> &batches) : context(batchPackage(batches).load()) {}
  // Runs n samples, checks all values, and that nothing after them was written.
  void expect(int64_t n) {
    Words x(size_t(n * 4 + 16)), y(size_t(n * 4 + 16), 12345);
    for (size_t i = 0; i < x.size(); ++i) x[i] = uint32_t(i + 1);
    context.invoke({x.view({n, 4})}, {y.view({n, 4})});
    for (size_t i = 0; i < size_t(n * 4); ++i) ASSERT_EQ(y[i], 2 * (i + 1)) << i << " of " << n;
    for (size_t i = size_t(n * 4); i < y.size(); ++i) ASSERT_EQ(y[i], 12345u) << i << " of " << n;
  }
  sprig_rt_run_info info() { return context.lastRun(); }
  Context context;
};

TEST(Entry, TakesTheExactBatch) {
  BatchRun run({1, 8, 64});
  for (int64_t n : {1, 8, 64}) {
    run.expect(n);
    EXPECT_EQ(run.info().runs, 1u);
    EXPECT_EQ(run.info().padded_samples, 0u);
  }
}

TEST(Entry, PadsToTheNextLargerBatch) {
  BatchRun run({1, 8, 64});
  run.expect(5);
  EXPECT_EQ(run.info().entry, 1u);
  EXPECT_EQ(run.info().runs, 1u);
  EXPECT_EQ(run.info().padded_samples, 3u);
  run.expect(9);
  EXPECT_EQ(run.info().entry, 2u);
  EXPECT_EQ(run.info().padded_samples, 55u);
}

TEST(Entry, SplitsOverTheLargestBatch) {
  BatchRun run({8, 4});
  run.expect(27);
  EXPECT_EQ(run.info().runs, 4u); // 8 + 8 + 8 + 3 in the one of 4
  EXPECT_EQ(run.info().padded_samples, 1u);
  run.expect(16);
  EXPECT_EQ(run.info().runs, 2u);
  EXPECT_EQ(run.info().padded_samples, 0u);
  run.expect(0);
  EXPECT_EQ(run.info().runs, 0u);
  for (int64_t n = 1; n < 40; ++n) run.expect(n);
}

TEST(Entry, RunMakesOutputsOfTheCallsBatch) {
  Context context(batchPackage({8}).load());
  Words x(12, 4);
  std::vector<TensorView> inputs = {x.view({3, 4})};
  std::vector<Array> outputs = context.run(inputs);
  EXPECT_EQ(outputs[0].shape(), (std::vector<int64_t>{3, 4}));
  EXPECT_EQ(outputs[0].as<uint32_t>()[11], 8u);
}

TEST(Entry, PaddingNeverFailsOnValuesThatNobodyGave) {
  TestPackage package;
  EntryBuilder entry("main");
  uint32_t a = entry.input("a", {8}), b = entry.input("b", {8}), q = entry.output("q", {8});
  entry.dispatch(0, Divide, {a, b, q}, 8);
  entry.entry.independentSamples = true;
  package.program.entries.push_back(entry.entry);
  Context context(package.load());
  Words x(3, 6), y(3, 2), out(3);
  context.invoke({x.view(), y.view()}, {out.view()});
  EXPECT_EQ(out[2], 3u);
}

TEST(Entry, RefusesWhatNoEntryTakesAndListsThem) {
  Words x(64), y(64);
  Context dependent(batchPackage({1, 8}, false).load());
  EXPECT_EQ(errorOf([&] { dependent.invoke({x.view({3, 4})}, {y.view({3, 4})}); }),
            "no entry takes inputs (3x4xui32); there is main ('x' 1x4xui32); main ('x' 8x4xui32)");
  Context independent(batchPackage({8}).load());
  EXPECT_EQ(errorOf([&] { independent.invoke({x.view({3, 5})}, {y.view({3, 4})}); }),
            "input 0 'x': expected 8x4xui32, got 3x5xui32");
  EXPECT_EQ(errorOf([&] { independent.invoke({x.view({3, 4})}, {y.view({8, 4})}); }),
            "output 0 'y': expected 3x4xui32, got 8x4xui32");
  EXPECT_EQ(errorOf([&] { independent.invoke({x.view({3, 4})}, {y.view({3, 4})}, 7); }),
            "expected an entry below 1, got 7");
}

TEST(Entry, ANamedEntryStaysInItsFamily) {
  TestPackage package = batchPackage({8});
  EntryBuilder other("other");
  uint32_t x = other.input("x", {2, 4}), y = other.output("y", {2, 4});
  other.dispatch(0, Mix, {x, x, y}, 8);
  other.entry.independentSamples = true;
  package.program.entries.push_back(other.entry);
  Package loaded = package.load();
  Context context(loaded);
  Words in(8, 1), out(8);
  context.invoke({in.view({2, 4})}, {out.view({2, 4})}, int32_t(loaded.findEntry("main")));
  EXPECT_EQ(out[0], 2u);
  context.invoke({in.view({2, 4})}, {out.view({2, 4})}, int32_t(loaded.findEntry("other")));
  EXPECT_EQ(out[0], 39u);
  EXPECT_EQ(errorOf([&] { loaded.findEntry("mian"); }), "test: no entry is named 'mian'; there is main, other");
}

TEST(Entry, UsesArraysInPlaceThatAreAlignedToTheirElements) {
  Context context(batchPackage({2}).load());
  Words x(32), y(32, 7);
  std::iota(x.data(), x.data() + 32, 0u);
  context.invoke({TensorView(x.data() + 1, {2, 4})}, {TensorView(y.data() + 3, {2, 4})});
  EXPECT_EQ(context.lastRun().packed_inputs, 0u);
  EXPECT_EQ(context.lastRun().packed_outputs, 0u);
  for (uint32_t i = 0; i < 8; ++i) EXPECT_EQ(y[i + 3], 2 * (i + 1));
  EXPECT_EQ(y[2], 7u);
  EXPECT_EQ(y[11], 7u);
}

TEST(Entry, PacksEvenBytesThatAreNotAlignedToTheirType) {
  Context context(batchPackage({2}).load());
  std::vector<uint8_t> raw(64), result(64);
  for (uint32_t i = 0; i < 8; ++i) std::memcpy(raw.data() + 1 + 4 * i, &i, 4);
  context.invoke({TensorView(raw.data() + 1, SPRIG_RT_U32, {2, 4})},
                 {TensorView(result.data() + 3, SPRIG_RT_U32, {2, 4})});
  EXPECT_EQ(context.lastRun().packed_inputs, 1u);
  EXPECT_EQ(context.lastRun().packed_outputs, 1u);
  for (uint32_t i = 0; i < 8; ++i) {
    uint32_t value;
    std::memcpy(&value, result.data() + 3 + 4 * i, 4);
    EXPECT_EQ(value, 2 * i);
  }
}

TEST(Entry, FollowsStridesOfInputsAndOutputs) {
  Context context(batchPackage({3}).load());
  Words x(64), y(64, 9);
  std::iota(x.data(), x.data() + 64, 0u);
  // A transposed input, an output with gaps between rows.
  context.invoke({TensorView(x.data(), SPRIG_RT_U32, {3, 4}, {1, 16})},
                 {TensorView(y.data(), SPRIG_RT_U32, {3, 4}, {6, 1})});
  for (uint32_t r = 0; r < 3; ++r)
    for (uint32_t c = 0; c < 4; ++c) EXPECT_EQ(y[r * 6 + c], 2 * (r + c * 16));
  EXPECT_EQ(y[4], 9u);
  EXPECT_EQ(y[5], 9u);
  // Broadcast by zero stride, reversed by a negative one.
  context.invoke({TensorView(x.data() + 7, SPRIG_RT_U32, {3, 4}, {0, -1})}, {TensorView(y.data(), {3, 4})});
  EXPECT_EQ(y[0], 14u);
  EXPECT_EQ(y[3], 8u);
  EXPECT_EQ(y[11], 8u);
}

TEST(Entry, FollowsStridesOfPaddedAndSplitBatches) {
  Context context(batchPackage({4}).load());
  constexpr int64_t n = 11;
  Words x(n * 8), y(n * 8, 5);
  std::iota(x.data(), x.data() + x.size(), 0u);
  context.invoke({TensorView(x.data(), SPRIG_RT_U32, {n, 4}, {8, 2})},
                 {TensorView(y.data(), SPRIG_RT_U32, {n, 4}, {8, 1})});
  for (uint32_t r = 0; r < n; ++r)
    for (uint32_t c = 0; c < 4; ++c) {
      EXPECT_EQ(y[r * 8 + c], 2 * (r * 8 + c * 2));
      EXPECT_EQ(y[r * 8 + 4 + c], 5u);
    }
}

TEST(Entry, AnOutputMayBeTheInput) {
  // Reads the input after the output's first write: out = x + x, then out = out + x.
  TestPackage package;
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {16}), y = entry.output("y", {16});
  entry.dispatch(0, Add, {x, x, y}, 16);
  entry.dispatch(0, Add, {y, x, y}, 16);
  package.program.entries.push_back(entry.entry);
  Context context(package.load());
  Words both(16, 3);
  context.invoke({both.view()}, {both.view()});
  EXPECT_EQ(both[0], 9u);
  EXPECT_EQ(context.lastRun().packed_outputs, 1u);
}

TestPackage counterPackage() {
  TestPackage package;
  package.addConstant({5, 6});
  package.program.states.push_back({{"counter", SPRIG_RT_U32, {2}, 0}, 0});
  EntryBuilder step("step"), read("read");
  uint32_t one = step.input("one", {2});
  uint32_t counter = step.state(0, 8);
  step.dispatch(0, Add, {counter, one, counter}, 2);
  step.entry.updatesState = true;
  uint32_t value = read.output("value", {2});
  read.copy(0, read.state(0, 8), value);
  package.program.entries = {step.entry, read.entry};
  return package;
}

TEST(Entry, StateIsUpdatedInPlaceAndShared) {
  Package package = counterPackage().load();
  State state(package);
  Context stepper(package, {nullptr, &state, 0}), reader(package, {nullptr, &state, 0}), other(package);
  Words one(2, 1), value(2);
  for (int i = 0; i < 3; ++i) stepper.invoke({one.view()}, {});
  reader.invoke({}, {value.view()});
  EXPECT_EQ(value[0], 8u);
  EXPECT_EQ(value[1], 9u);
  // A context without a given state has a fresh one.
  other.invoke({}, {value.view()});
  EXPECT_EQ(value[0], 5u);
  EXPECT_EQ(reinterpret_cast<uint32_t *>(state.bytes(0).data())[0], 8u);
  EXPECT_EQ(errorOf([&] { state.bytes(1); }), "expected a state below 1, got 1");
}

TEST(Entry, ABoundStateIsTheCallersMemory) {
  Package package = counterPackage().load();
  State state = State::bound(package);
  EXPECT_TRUE(state.bytes(0).data() == nullptr);
  Context stepper(package, {nullptr, &state, 0}), reader(package, {nullptr, &state, 0});
  Words one(2, 1), value(2);
  EXPECT_EQ(errorOf([&] { stepper.invoke({one.view()}, {}); }),
            "entry 'step': expected memory for state 'counter', none is bound");
  Array first(SPRIG_RT_U32, {2}), second(SPRIG_RT_U32, {2});
  first.as<uint32_t>()[0] = first.as<uint32_t>()[1] = 10;
  second.as<uint32_t>()[0] = second.as<uint32_t>()[1] = 20;
  state.bind(0, first.data());
  stepper.invoke({one.view()}, {});
  stepper.invoke({one.view()}, {});
  reader.invoke({}, {value.view()});
  EXPECT_EQ(value[1], 12u);
  // Both contexts see the other memory with their next run.
  state.bind(0, second.data());
  reader.invoke({}, {value.view()});
  EXPECT_EQ(value[0], 20u);
  stepper.invoke({one.view()}, {});
  EXPECT_EQ(second.as<uint32_t>()[1], 21u);
  EXPECT_EQ(first.as<uint32_t>()[0], 12u);
}

TEST(Entry, WhatCannotBeBoundIsRefused) {
  Package package = counterPackage().load();
  State own(package), bound = State::bound(package);
  Array memory(SPRIG_RT_U32, {32});
  EXPECT_EQ(errorOf([&] { own.bind(0, memory.data()); }),
            "expected a state of sprig_rt_state_create_bound, got one with memory of its own");
  EXPECT_EQ(errorOf([&] { bound.bind(1, memory.data()); }), "expected a state below 1, got 1");
  EXPECT_EQ(errorOf([&] { bound.bind(0, memory.as<uint32_t>() + 1); }),
            "state 'counter': expected memory aligned to 64 bytes, got an address that is not");
  EXPECT_EQ(errorOf([&] { bound.bind(0, nullptr); }), "state 'counter': expected memory aligned to 64 bytes, got null");
}

TEST(Entry, AStateOfAnotherPackageIsRefused) {
  Package a = counterPackage().load(), b = counterPackage().load();
  State state(a);
  EXPECT_EQ(errorOf([&] { Context context(b, {nullptr, &state, 0}); }), "expected a state of test, got one of test");
}

} // namespace
} // namespace sprig::rt::test
