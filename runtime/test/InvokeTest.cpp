// Running entries: values, buffers of every kind, status words, the floating-point environment.
#include "runtime/test/TestPackage.h"

#include <cmath>
#include <gtest/gtest.h>

extern "C" {
extern const uint8_t test_import[];
extern const uint8_t test_import_slot[];
extern const uint8_t test_import_end[];
}

namespace sprig::rt::test {
namespace {

TEST(Invoke, AddsTwoInputs) {
  Package package = addPackage(16).load();
  Context context(package);
  Words a(16), b(16, 5), sum(16);
  for (size_t i = 0; i < a.size(); ++i) a[i] = uint32_t(i);
  context.invoke({a.view(), b.view()}, {sum.view()});
  for (size_t i = 0; i < sum.size(); ++i) EXPECT_EQ(sum[i], i + 5);
  EXPECT_EQ(context.lastRun().runs, 1u);
  EXPECT_EQ(context.lastRun().packed_inputs, 0u);
  EXPECT_STREQ(context.lastRun().isa, "x86-64-v2");
}

TEST(Invoke, RunsIntoFreshArrays) {
  Package package = addPackage(4).load();
  Context context(package);
  Words a(4, 1), b(4, 2);
  std::vector<TensorView> inputs = {a.view(), b.view()};
  std::vector<Array> outputs = context.run(inputs);
  ASSERT_EQ(outputs.size(), 1u);
  EXPECT_EQ(outputs[0].shape(), std::vector<int64_t>{4});
  EXPECT_EQ(outputs[0].as<uint32_t>()[3], 3u);
}

TEST(Invoke, UsesConstantsSplatsArenaAndCopies) {
  TestPackage package;
  uint32_t c = package.addConstant({10, 20, 30, 40});
  package.program.constants.push_back({"ones", 16, 0, {1, 0, 0, 0}});
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {4}), y = entry.output("y", {4});
  uint32_t t = entry.arena(16), u = entry.arena(16);
  entry.dispatch(0, Add, {x, entry.constant(c, 16), t}, 4);
  entry.copy(0, t, u);
  entry.dispatch(0, Add, {u, entry.constant(1, 16), y}, 4);
  package.program.entries.push_back(entry.entry);
  Context context(package.load());
  Words in(4, 100), out(4);
  context.invoke({in.view()}, {out.view()});
  EXPECT_EQ(out[0], 111u);
  EXPECT_EQ(out[3], 141u);
}

TEST(Invoke, HandlesEmptyTensors) {
  TestPackage package = addPackage(0);
  Context context(package.load());
  context.invoke({TensorView(nullptr, SPRIG_RT_U32, {0}), TensorView(nullptr, SPRIG_RT_U32, {0})},
                 {TensorView(nullptr, SPRIG_RT_U32, {0})});
  EXPECT_EQ(context.lastRun().runs, 1u);
}

TEST(Invoke, ReachesTheRuntimeThroughImportSlots) {
  TestPackage package;
  package.image.assign(test_import, test_import_end);
  package.program.kernels = {{"tanh", 0, 2, {}}};
  core::Image &image = package.program.images[0];
  image.codeSize = uint64_t(test_import_slot - test_import);
  image.symbols = {0};
  image.symbolSizes = {image.codeSize};
  image.imports = {{"tanh", image.codeSize}};
  EntryBuilder entry("main");
  uint32_t x = entry.input("x", {1}, SPRIG_RT_F64), y = entry.output("y", {1}, SPRIG_RT_F64);
  entry.dispatch(0, TestKernel(0), {x, y}, 1);
  package.program.entries.push_back(entry.entry);
  Context context(package.load());
  double in = 0.75, out = 0;
  context.invoke({TensorView(&in, {1})}, {TensorView(&out, {1})});
  EXPECT_EQ(out, std::tanh(0.75));
}

TestPackage gatherPackage(int64_t n, int64_t grain) {
  TestPackage package;
  uint32_t size = package.addConstantOf<int64_t>({4});
  EntryBuilder entry("pick");
  uint32_t table = entry.input("table", {4}), index = entry.input("index", {n}, SPRIG_RT_I64);
  uint32_t out = entry.output("out", {n});
  entry.dispatch(0, Gather, {table, index, entry.constant(size, 8), out}, n, grain);
  package.program.entries.push_back(entry.entry);
  return package;
}

TEST(Invoke, TellsAnIndexOutOfRange) {
  Context context(gatherPackage(3, 1).load());
  Words table(4, 9), out(3);
  int64_t index[3] = {0, 7, 1};
  sprig_rt_code code = SPRIG_RT_OK;
  std::string message = errorOf([&] { context.invoke({table.view(), TensorView(index, {3})}, {out.view()}); }, &code);
  EXPECT_EQ(code, SPRIG_RT_BAD_INPUT);
  EXPECT_EQ(sprig_rt_code_exit(code), 3);
  EXPECT_EQ(message, "entry 'pick': 'second_gather': expected an index below 4, found 7");
  // The context is as good as before.
  index[1] = 3;
  context.invoke({table.view(), TensorView(index, {3})}, {out.view()});
  EXPECT_EQ(out[1], 9u);
}

TEST(Invoke, TellsTheFirstFailingTileHoweverTheWorkIsCut) {
  Pool pool(4);
  Context context(gatherPackage(1000, 1).load(), {&pool, nullptr, 0});
  Words table(4, 9), out(1000);
  std::vector<int64_t> index(1000, 2);
  for (size_t i = 300; i < 1000; ++i) index[i] = int64_t(i);
  for (int round = 0; round < 50; ++round) {
    std::string message =
        errorOf([&] { context.invoke({table.view(), TensorView(index.data(), {1000})}, {out.view()}); });
    ASSERT_EQ(message, "entry 'pick': 'second_gather': expected an index below 4, found 300");
  }
}

TEST(Invoke, TellsADivisionByZero) {
  TestPackage package;
  EntryBuilder entry("main");
  uint32_t a = entry.input("a", {2}), b = entry.input("b", {2}), q = entry.output("q", {2});
  entry.dispatch(0, Divide, {a, b, q}, 2);
  // Nothing after the failing command runs.
  entry.dispatch(0, Add, {a, a, q}, 2);
  package.program.entries.push_back(entry.entry);
  Context context(package.load());
  Words left(2, 6), right(2, 0), out(2, 77);
  sprig_rt_code code = SPRIG_RT_OK;
  EXPECT_EQ(errorOf([&] { context.invoke({left.view(), right.view()}, {out.view()}); }, &code),
            "entry 'main': 'first_divide': integer division by zero");
  EXPECT_EQ(code, SPRIG_RT_BAD_INPUT);
  EXPECT_EQ(out[0], 77u);
}

TEST(Invoke, GivesKernelsTheDefaultFloatEnvironmentAndRestoresTheCallers) {
  TestPackage package;
  EntryBuilder entry("main");
  uint32_t out = entry.output("out", {256});
  entry.dispatch(0, Mxcsr, {out}, 256, 1);
  package.program.entries.push_back(entry.entry);
  Pool pool(2);
  Context context(package.load(), {&pool, nullptr, 0});
  Words found(256);
  // Flush to zero, denormals are zero, round down.
  unsigned mine = 0x1f80 | 0x8040 | 0x2000, before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(mine);
  context.invoke({}, {found.view()});
  unsigned after = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(before);
  // The six lowest bits say what has happened on the thread so far, and decide nothing.
  constexpr unsigned kSticky = 0x3f;
  EXPECT_EQ(after & ~kSticky, mine);
  for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i] & ~kSticky, 0x1f80u) << i;
}

TEST(Invoke, NamesWhatIsWrongWithInputsAndOutputs) {
  Context context(addPackage(16).load());
  Words a(17), out(16);
  std::vector<int64_t> longs(16);
  auto call = [&](TensorView x, TensorView y, TensorView z) { return errorOf([&] { context.invoke({x, y}, {z}); }); };
  EXPECT_EQ(call(a.view({17}), a.view({16}), out.view()), "input 0 'a': expected 16xui32, got 17xui32");
  EXPECT_EQ(call(a.view({16}), TensorView(longs.data(), {16}), out.view()),
            "input 1 'b': expected 16xui32, got 16xi64");
  EXPECT_EQ(call(a.view({16}), a.view({16}), a.view({4, 4})), "output 0 'sum': expected 16xui32, got 4x4xui32");
  EXPECT_EQ(errorOf([&] { context.invoke({a.view({16})}, {out.view()}); }),
            "entry 'add': expected 2 inputs ('a' 16xui32, 'b' 16xui32), got 1");
  EXPECT_EQ(errorOf([&] { context.invoke({a.view({16}), a.view({16})}, {}); }),
            "entry 'add': expected 1 output ('sum' 16xui32), got 0");
  EXPECT_EQ(call(TensorView(nullptr, SPRIG_RT_U32, {16}), a.view({16}), out.view()),
            "input 0: expected data for 16xui32, got null");
}

} // namespace
} // namespace sprig::rt::test
