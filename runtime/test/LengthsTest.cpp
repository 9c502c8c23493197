// Entries that take several lengths: which one a call gets, arrays that are padded and cut, and what is refused.
#include "runtime/test/TestPackage.h"

#include <gtest/gtest.h>

namespace sprig::rt::test {
namespace {

using core::Entry;

// y = x + x for x of [2, t, 3], t from first to last; y of [2, t, 3].
Entry doubling(int64_t first, int64_t last) {
  EntryBuilder builder("main");
  uint32_t x = builder.input("x", {2, last, 3}), y = builder.output("y", {2, last, 3});
  builder.input("length of 'time'", {}, SPRIG_RT_I64);
  builder.dispatch(0, Add, {x, x, y}, 2 * last * 3);
  Entry &entry = builder.entry;
  entry.inputs[0].growing = entry.outputs[0].growing = {{1, 1, 0, 1}};
  entry.lengths = core::Lengths{"time", first, last};
  return entry;
}

TestPackage packageWith(std::vector<Entry> entries) {
  TestPackage package;
  package.program.entries = std::move(entries);
  return package;
}

// Runs [2, t, 3], checks all values, and that nothing behind them was written.
void expectDoubled(Context &context, int64_t t, uint32_t entry) {
  size_t count = size_t(2 * t * 3);
  Words x(count + 8), y(count + 8, 12345);
  for (size_t i = 0; i < count; ++i) x[i] = uint32_t(i + 1);
  context.invoke({x.view({2, t, 3})}, {y.view({2, t, 3})});
  for (size_t i = 0; i < count; ++i) ASSERT_EQ(y[i], 2 * (i + 1)) << i << " at length " << t;
  for (size_t i = count; i < y.size(); ++i) ASSERT_EQ(y[i], 12345u) << i << " at length " << t;
  EXPECT_EQ(context.lastRun().entry, entry) << t;
}

TEST(Lengths, CallsTakeTheFirstEntryOfTheirLength) {
  Context context(packageWith({doubling(1, 2), doubling(3, 4), doubling(5, 9)}).load());
  for (int64_t t : {9, 1, 5, 3, 2, 4, 7, 6, 8}) expectDoubled(context, t, t <= 2 ? 0 : t <= 4 ? 1 : 2);
}

TEST(Lengths, FreshArraysHaveTheLength) {
  Context context(packageWith({doubling(1, 2), doubling(3, 8)}).load());
  Words x(2 * 5 * 3, 7);
  std::vector<Array> results = context.run({{x.view({2, 5, 3})}});
  ASSERT_EQ(results.size(), 1u);
  EXPECT_EQ(results[0].shape(), (std::vector<int64_t>{2, 5, 3}));
  for (size_t i = 0; i < results[0].elements(); ++i) EXPECT_EQ(results[0].as<uint32_t>()[i], 14u);
}

TEST(Lengths, StridedArraysAreTakenApart) {
  Context context(packageWith({doubling(3, 4)}).load());
  // Columns of a larger array on both sides: [2, 3, 3] of [2, 5, 4].
  Words x(2 * 5 * 4), y(2 * 5 * 4, 1);
  for (size_t i = 0; i < x.size(); ++i) x[i] = uint32_t(i);
  std::vector<int64_t> strides = {20, 4, 1};
  context.invoke({TensorView(x.data(), {2, 3, 3}, std::span<const int64_t>(strides))},
                 {TensorView(y.data(), {2, 3, 3}, std::span<const int64_t>(strides))});
  for (size_t i = 0; i < y.size(); ++i) {
    bool isTaken = i / 4 % 5 < 3 && i % 4 < 3;
    ASSERT_EQ(y[i], isTaken ? 2 * i : 1) << i;
  }
}

TEST(Lengths, SubmittedCallsToo) {
  Context context(packageWith({doubling(1, 8)}).load());
  Words x(2 * 5 * 3, 3), y(2 * 5 * 3);
  context.submit({x.view({2, 5, 3})}, {y.view({2, 5, 3})}).wait();
  for (size_t i = 0; i < 30; ++i) EXPECT_EQ(y[i], 6u);
}

TEST(Lengths, AreDescribed) {
  Package package = packageWith({doubling(3, 8)}).load();
  sprig_rt_lengths_info lengths = package.lengths(0);
  EXPECT_STREQ(lengths.axis, "time");
  EXPECT_EQ(lengths.first, 3);
  EXPECT_EQ(lengths.last, 8);
  ASSERT_EQ(package.inputs(0).size(), 1u);
  EXPECT_EQ(package.inputs(0)[0].shape, (std::vector<int64_t>{2, 8, 3}));
  EXPECT_EQ(package.inputsAt(0, 4)[0].shape, (std::vector<int64_t>{2, 4, 3}));
  EXPECT_EQ(package.outputsAt(0, 5)[0].shape, (std::vector<int64_t>{2, 5, 3}));
  EXPECT_EQ(errorOf([&] { package.outputsAt(0, 9); }), "entry 'main': expected a length from 3 to 8, got 9");
  sprig_rt_lengths_info unset = {};
  sprig_rt_status *status = sprig_rt_package_entry_lengths(package.raw(), 0, &unset);
  EXPECT_STREQ(sprig_rt_status_message(status), "expected a size of 32, got 0");
  sprig_rt_status_free(status);
}

TEST(Lengths, WhatDoesNotFitIsRefused) {
  Context one(packageWith({doubling(3, 8)}).load());
  Words x(600), y(600);
  auto refusal = [&](Context &context, std::vector<int64_t> in, std::vector<int64_t> out) {
    return errorOf([&] { context.invoke({x.view(in)}, {y.view(out)}); });
  };
  EXPECT_EQ(refusal(one, {2, 9, 3}, {2, 9, 3}), "entry 'main' takes 3 to 8 of 'time' ('x' 2x3..8x3xui32), got 9");
  EXPECT_EQ(refusal(one, {2, 2, 3}, {2, 2, 3}), "entry 'main' takes 3 to 8 of 'time' ('x' 2x3..8x3xui32), got 2");
  EXPECT_EQ(refusal(one, {1, 4, 3}, {1, 4, 3}), "input 0 'x': expected 2x4x3xui32, got 1x4x3xui32");
  EXPECT_EQ(refusal(one, {2, 4, 3}, {2, 5, 3}), "output 0 'y': expected 2x4x3xui32, got 2x5x3xui32");
  EXPECT_EQ(errorOf([&] { one.invoke({}, {y.view({2, 4, 3})}); }),
            "entry 'main': expected 1 input ('x' 2x3..8x3xui32), got 0");
  Context two(packageWith({doubling(3, 4), doubling(5, 8)}).load());
  EXPECT_EQ(refusal(two, {2, 9, 3}, {2, 9, 3}),
            "no entry takes inputs (2x9x3xui32); there is main ('x' 2x3..4x3xui32); main ('x' 2x5..8x3xui32)");
}

TEST(Lengths, DamageIsRefused) {
  auto expect = [](const std::string &message, auto change) {
    Entry entry = doubling(3, 8);
    change(entry);
    EXPECT_EQ(errorOf([&] { packageWith({entry}).load(); }), "test: entry 0 'main': " + message);
  };
  expect("'y' has dimensions that grow, and the entry no lengths", [](Entry &entry) {
    entry.lengths.reset();
    entry.inputs[0].growing.clear();
  });
  expect("expected lengths of an axis with a name, from 1 to 2147483648, found 0 to 8 of 'time'",
         [](Entry &entry) { entry.lengths->first = 0; });
  expect("expected lengths of an axis with a name, from 1 to 2147483648, found 9 to 8 of 'time'",
         [](Entry &entry) { entry.lengths->first = 9; });
  expect("takes several lengths, and has no last input for the length", [](Entry &entry) { entry.inputs.pop_back(); });
  expect("takes several lengths, and has no last input for the length",
         [](Entry &entry) { entry.inputs[1].dtype = SPRIG_RT_I32; });
  expect("takes several lengths, and is of several ranks or has independent samples",
         [](Entry &entry) { entry.independentSamples = true; });
  expect("takes several lengths, of which no input's shape tells",
         [](Entry &entry) { entry.inputs[0].growing.clear(); });
  expect("'x': expected dimensions that grow below 3, found 3",
         [](Entry &entry) { entry.inputs[0].growing[0].dim = 3; });
  expect("'x': dimension 1 grows twice",
         [](Entry &entry) { entry.inputs[0].growing.push_back(entry.inputs[0].growing[0]); });
  expect("'y': dimension 1 of 8 elements is not (2 t + 0) / 1 at 8",
         [](Entry &entry) { entry.outputs[0].growing[0].multiple = 2; });
  expect("'x': dimension 1 of 8 elements is not (1 t + 0) / 0 at 8",
         [](Entry &entry) { entry.inputs[0].growing[0].divisor = 0; });
  expect("'y': dimension 1 of 8 elements is not (2 t + -8) / 1 at 8", [](Entry &entry) {
    entry.outputs[0].growing[0] = {1, 2, -8, 1}; // below zero at 3
  });
}

} // namespace
} // namespace sprig::rt::test
