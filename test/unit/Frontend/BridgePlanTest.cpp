// Plans: graphs compiled, loaded and run on the caller's memory.
#include "sprig/rt/sprig_rt.hpp"
#include "test/unit/Frontend/Graphs.h"
#include <cmath>
#include <gtest/gtest.h>
#include <thread>

namespace sprig::frontend::test {
namespace {

TEST(BridgePlan, RunsAnExpression) {
  Builder b;
  uint32_t x = b.input(f32({2, 3})), y = b.input(f32({3}));
  uint32_t sum = b.op("add", {x, y}, f32({2, 3}));
  uint32_t total = b.op("reduce", {sum}, f32({2}), {Attr::word("kind", "reduce_kind sum"), Attr::of("axes", Shape{1})});
  auto results = run<float>(b.give({sum, total}), {{1, 2, 3, 4, 5, 6}, {10, 20, 30}});
  EXPECT_EQ(results[0], (Floats{11, 22, 33, 14, 25, 36}));
  EXPECT_EQ(results[1], (Floats{66, 75}));
}

TEST(BridgePlan, GivesInputsConstantsAndTheSameValueTwice) {
  Builder b;
  uint32_t x = b.input(f32({3})), unused = b.input(f32({2, 2}));
  uint32_t c = b.constant<float>(f32({3}), {7, 8, 9}), splat = b.constant<float>(f32({3}), {5});
  uint32_t y = b.op("neg", {x}, f32({3}));
  (void)unused;
  auto results = run<float>(b.give({x, c, splat, y, y, x}), {{1, 2, 3}, {0, 0, 0, 0}});
  EXPECT_EQ(results, (std::vector<Floats>{{1, 2, 3}, {7, 8, 9}, {5, 5, 5}, {-1, -2, -3}, {-1, -2, -3}, {1, 2, 3}}));
}

TEST(BridgePlan, RunsAGraphOfNoNodesAndOneOfNothing) {
  Builder b;
  uint32_t x = b.input(f32({2}));
  EXPECT_EQ(run<float>(b.give({x}), {{3, 4}})[0], (Floats{3, 4}));
  EXPECT_EQ(run<float>(Graph(), {}).size(), 0u);
}

TEST(BridgePlan, TakesArraysWithoutElements) {
  Builder b;
  uint32_t x = b.input(f32({0, 3}));
  uint32_t sum = b.op("reduce", {x}, f32({3}), {Attr::word("kind", "reduce_kind sum"), Attr::of("axes", Shape{0})});
  auto results = run<float>(b.give({b.op("neg", {x}, f32({0, 3})), sum}), {{}});
  EXPECT_EQ(results[1], (Floats{0, 0, 0}));
}

// w (updated), m (updated and given), r (only read), u (neither), a and b exchanged.
struct Stateful {
  Stateful() {
    uint32_t x = b.input(f32({4}));
    for (int i = 0; i < 6; ++i) b.input(f32({4}));
    uint32_t w = b.op("sub", {1, x}, f32({4})), m = b.op("mul", {2, 3}, f32({4}));
    graph = b.give({w, m, m, 2, 6, 5, 1});
    slots = {{1, 0, "w"}, {2, 1, "m"}, {3, -1, "r"}, {4, -1, "u"}, {5, 4, "a"}, {6, 5, "b"}};
  }
  Builder b;
  Graph graph;
  std::vector<StateSlot> slots;
};

TEST(BridgePlan, UpdatesStateInTheCallersMemory) {
  Stateful s;
  auto plan = compilePlan(s.graph, s.slots, quick(), "step");
  Memory x(Floats{1, 1, 1, 1}), m1(16), m0(16), w0(16);
  std::vector<Memory> states;
  for (Floats values : {Floats{10, 20, 30, 40}, Floats{1, 2, 3, 4}, Floats{2, 2, 2, 2}, Floats{0, 0, 0, 0},
                        Floats{5, 5, 5, 5}, Floats{6, 6, 6, 6}})
    states.emplace_back(values);
  std::vector<void *> in{x.data()}, out{m1.data(), m0.data(), w0.data()}, bound;
  for (Memory &state : states) bound.push_back(state.data());
  plan->run(in, out, bound);
  plan->run(in, out, bound);
  EXPECT_EQ(states[0].as<float>(), (Floats{8, 18, 28, 38}));
  EXPECT_EQ(states[1].as<float>(), (Floats{4, 8, 12, 16}));
  EXPECT_EQ(m1.as<float>(), (Floats{4, 8, 12, 16}));
  EXPECT_EQ(m0.as<float>(), (Floats{2, 4, 6, 8})); // as it was when the run began
  EXPECT_EQ(w0.as<float>(), (Floats{9, 19, 29, 39}));
  EXPECT_EQ(states[4].as<float>(), (Floats{5, 5, 5, 5})); // exchanged twice
  // Other memory from now on; the old one stays as it is.
  Memory w(Floats{100, 100, 100, 100});
  bound[0] = w.data();
  plan->run(in, out, bound);
  EXPECT_EQ(w.as<float>(), (Floats{99, 99, 99, 99}));
  EXPECT_EQ(states[0].as<float>(), (Floats{8, 18, 28, 38}));
  EXPECT_EQ(states[4].as<float>(), (Floats{6, 6, 6, 6}));
}

TEST(BridgePlan, RefusesStatesThatDoNotFit) {
  Builder b;
  uint32_t x = b.input(f32({4}));
  Graph graph = b.give({b.op("cast", {x}, f64({4}))});
  auto compile = [&](std::vector<StateSlot> slots) {
    return errorOf([&] { compilePlan(graph, slots, quick(), "f"); });
  };
  EXPECT_EQ(compile({{0, 0, "w"}}), "function 'f': state 'w' is 4xf32, its next value 4xf64");
  EXPECT_EQ(compile({{0, -1, "w"}, {0, -1, "v"}}), "function 'f': state 'v' is there twice");
  EXPECT_EQ(compile({{3, -1, "w"}}), "function 'f': state 'w' is none of its inputs");
}

TEST(BridgePlan, NamesLineLayerAndOperationOfWhatDoesNotFit) {
  Builder b;
  b.layer = &intern("encoder.0.linear");
  uint32_t x = b.input(f32({2, 3})), w = b.input(f32({4, 5}));
  b.op("matmul", {x, w}, f32({2, 5}));
  std::string text = errorOf([&] { compilePlan(b.give({2}), {}, quick(), "f"); });
  EXPECT_EQ(text.substr(0, text.find("): ") + 3), "train.cpp:1: matmul (layer 'encoder.0.linear'): ") << text;
  EXPECT_EQ(text.find("'nn.matmul'"), std::string::npos) << text;

  Builder unknown;
  unknown.op("frobnicate", {}, f32({}));
  EXPECT_EQ(errorOf([&] { compilePlan(unknown.give({0}), {}, quick(), "f"); }),
            "train.cpp:1: frobnicate: is no operation of the compiler");
  Builder attribute;
  uint32_t y = attribute.input(f32({2}));
  attribute.op("relu", {y}, f32({2}), {Attr::of("slope", 0.5)});
  EXPECT_EQ(errorOf([&] { compilePlan(attribute.give({1}), {}, quick(), "f"); }),
            "train.cpp:1: relu: nn.relu: attribute 'slope' is none of the operation's");
}

TEST(BridgePlan, ReportsWhatRunsFindByTheLineThatRecordedIt) {
  Builder b;
  uint32_t table = b.input(f32({10, 2})), other = b.input(f32({5, 2})), at = b.input(i64({3}));
  AttrList axis{Attr::of("axis", 0)};
  b.layer = &intern("embedding");
  uint32_t first = b.op("gather", {table, at}, f32({3, 2}), axis);
  b.layer = nullptr;
  uint32_t second = b.op("gather", {other, at}, f32({3, 2}), axis);
  auto plan = compilePlan(b.give({first, second}), {}, quick(), "f");
  Memory t(80), o(40), r(24), s(24);
  auto run = [&](std::vector<int64_t> indices) {
    Memory i(indices);
    std::vector<void *> in{t.data(), o.data(), i.data()}, out{r.data(), s.data()};
    return errorOf([&] { plan->run(in, out, {}); });
  };
  EXPECT_EQ(run({0, 1, 2}), "no error");
  EXPECT_EQ(run({0, 12, 2}), "train.cpp:1: gather (layer 'embedding'): expected an index below 10, found 12");
  EXPECT_EQ(run({0, 7, 2}), "train.cpp:2: gather: expected an index below 5, found 7");
  EXPECT_EQ(run({0, 1, 2}), "no error");
}

TEST(BridgePlan, PreparesWhatDependsOnReadOnlyStates) {
  Builder b;
  uint32_t x = b.input(f32({2, 1, 9, 9})), k = b.input(f32({8, 1, 3, 3})), w = b.input(f32({10, 8 * 49}));
  uint32_t c = b.input(f32({10})), count = b.input(i64({}));
  uint32_t y = b.op(
      "conv", {x, k}, f32({2, 8, 7, 7}),
      {Attr::of("strides", Shape{1, 1}), Attr::of("dilations", Shape{1, 1}), Attr::of("padding", Shape{0, 0, 0, 0})});
  uint32_t flat = b.op("reshape", {y}, f32({2, 8 * 49}));
  uint32_t z = b.op("linear", {flat, w, c}, f32({2, 10}));
  Graph graph = b.give({z, b.op("add", {count, count}, i64({}))});
  std::vector<StateSlot> slots{{k, -1, "k"}, {w, -1, "prepared"}, {c, -1, "prepare"}, {count, 1, "count"}};
  CompileOptions prepared = quick();
  prepared.prepare = true;
  auto plain = compilePlan(graph, slots, quick(), "net"), ahead = compilePlan(graph, slots, prepared, "net");

  auto filled = [](int64_t count, float by) {
    Floats values;
    for (int64_t i = 0; i < count; ++i) values.push_back(std::sin(float(i) * by));
    return values;
  };
  Memory in(filled(2 * 81, 0.3f)), out(80), counted(std::vector<int64_t>{1});
  Memory kernel(filled(72, 0.7f)), weight(filled(3920, 1.1f)), bias(filled(10, 1.3f));
  auto run = [&](Plan &plan, uint64_t version) {
    std::vector<void *> inputs{in.data()}, outputs{out.data()};
    plan.run(inputs, outputs, std::vector<void *>{kernel.data(), weight.data(), bias.data(), counted.data()}, version);
    return out.as<float>();
  };
  Floats first = run(*plain, 0);
  EXPECT_EQ(run(*ahead, 7), first);
  EXPECT_EQ(run(*ahead, 7), first);
  static_cast<float *>(weight.data())[5] += 1;
  static_cast<float *>(kernel.data())[5] += 1;
  Floats second = run(*plain, 0);
  EXPECT_NE(second, first);
  EXPECT_EQ(run(*ahead, 8), second);
  static_cast<float *>(weight.data())[5] -= 2;
  // Without a version it cannot know.
  EXPECT_EQ(run(*ahead, 0), run(*plain, 0));
  EXPECT_EQ(counted.as<int64_t>()[0], 1 << 7);

  // Frozen, the same values are constants.
  for (StateSlot &slot : slots)
    slot.initial = (slot.input == k ? kernel : slot.input == w ? weight : slot.input == c ? bias : counted).data();
  PackageEntry entry{"net", &graph, slots, {}, {}};
  rt::Package package = rt::Package::fromMemory(compilePackage(std::span(&entry, 1), quick()));
  rt::Context context(package);
  Floats frozen(20);
  context.invoke({rt::TensorView(static_cast<float *>(in.data()), {2, 1, 9, 9})},
                 {rt::TensorView(frozen.data(), {2, 10})});
  EXPECT_EQ(frozen, run(*plain, 0));
}

TEST(BridgePlan, CompilesOnSeveralThreadsAtOnce) {
  std::vector<std::thread> threads;
  std::vector<Floats> results(4);
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int round = 0; round < 3; ++round) {
        Builder b;
        uint32_t x = b.input(f32({4, 4}));
        uint32_t y = b.op("matmul", {x, b.constant<float>(f32({4, 4}), {float(t + 1)})}, f32({4, 4}));
        results[size_t(t)] = run<float>(b.give({y}), {Floats(16, 1)})[0];
      }
    });
  for (std::thread &thread : threads) thread.join();
  for (int t = 0; t < 4; ++t) EXPECT_EQ(results[size_t(t)], Floats(16, 4.f * float(t + 1)));
}

} // namespace
} // namespace sprig::frontend::test
