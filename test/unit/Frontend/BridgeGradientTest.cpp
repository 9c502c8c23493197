// Gradients as graphs: against central differences, and bit by bit against the same request compiled as a whole.
#include "test/unit/Frontend/Graphs.h"
#include <cmath>
#include <gtest/gtest.h>

namespace sprig::frontend::test {
namespace {

template <typename T> using Arrays = std::vector<std::vector<T>>;

template <typename T> std::vector<T> numbers(int64_t count, int seed) {
  std::vector<T> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(T(std::sin(double(i * 7 + seed * 13 + 1) * 1.7)));
  return values;
}

/// Inputs of the graph by a fixed rule; integers are classes below 3.
template <typename T> Arrays<T> inputsOf(const Graph &graph) {
  Arrays<T> inputs;
  for (uint32_t i = 0; i < graph.inputCount; ++i) inputs.push_back(numbers<T>(graph.types[i].elements(), int(i)));
  return inputs;
}

/// The forward graph with the continuation after it: `seeds` are further inputs. Outputs are the continuation's.
Graph joined(const Graph &forward, const Continuation &next) {
  uint32_t seeds = next.graph.inputCount - uint32_t(next.uses.size());
  Graph whole;
  whole.inputCount = forward.inputCount + seeds;
  auto inForward = [&](uint32_t value) { return value < forward.inputCount ? value : value + seeds; };
  whole.types.assign(forward.types.begin(), forward.types.begin() + forward.inputCount);
  for (uint32_t i = 0; i < seeds; ++i) whole.types.push_back(next.graph.types[next.uses.size() + i]);
  whole.types.insert(whole.types.end(), forward.types.begin() + forward.inputCount, forward.types.end());
  uint32_t base = uint32_t(whole.types.size()), own = next.graph.inputCount;
  auto inNext = [&](uint32_t value) -> uint32_t {
    if (value >= own) return base + value - own;
    return value < next.uses.size() ? inForward(next.uses[value])
                                    : forward.inputCount + value - uint32_t(next.uses.size());
  };
  whole.types.insert(whole.types.end(), next.graph.types.begin() + own, next.graph.types.end());
  auto append = [&](const Graph &graph, auto number) {
    for (GraphNode node : graph.nodes) {
      for (uint32_t &operand : node.operands) operand = number(operand);
      node.firstResult = number(node.firstResult);
      whole.nodes.push_back(std::move(node));
    }
  };
  append(forward, inForward);
  append(next.graph, inNext);
  for (uint32_t output : next.graph.outputs) whole.outputs.push_back(inNext(output));
  return whole;
}

/// The forward pass and the continuation as two plans, as the engine may run them.
template <typename T> Arrays<T> inTwoParts(Graph forward, const Continuation &next, const Arrays<T> &inputs) {
  forward.outputs = next.uses;
  Arrays<T> values = run<T>(forward, inputs);
  return run<T>(next.graph, values);
}

/// The request itself within the graph, compiled as a whole.
Graph withRequest(Graph graph, std::vector<uint32_t> wrt) {
  GraphNode node;
  node.op = &opName("nn.gradient");
  node.operands = {graph.outputs[0]};
  node.operands.insert(node.operands.end(), wrt.begin(), wrt.end());
  node.attrs = {Attr::of("operandSegmentSizes", Shape{1, 0, int64_t(wrt.size())})};
  node.firstResult = uint32_t(graph.types.size());
  node.resultCount = uint32_t(wrt.size());
  graph.outputs.clear();
  for (uint32_t value : wrt) {
    graph.outputs.push_back(uint32_t(graph.types.size()));
    graph.types.push_back(TensorType(graph.types[value]));
  }
  graph.nodes.push_back(std::move(node));
  return graph;
}

/// Compares in f64 with (f(x + h) - f(x - h)) / 2h at a few elements of each input.
void expectDifferences(const Graph &forward, const std::vector<uint32_t> &wrt) {
  Arrays<double> inputs = inputsOf<double>(forward);
  Continuation next = gradientOf(forward, forward.outputs, wrt, false);
  Arrays<double> gradients = run<double>(joined(forward, next), inputs);
  EXPECT_EQ(gradients, inTwoParts<double>(forward, next, inputs));
  EXPECT_EQ(gradients, run<double>(withRequest(forward, wrt), inputs));
  auto plan = compilePlan(forward, {}, quick(), "forward");
  auto value = [&](const Arrays<double> &at) {
    std::vector<Memory> in;
    std::vector<void *> pointers;
    for (const std::vector<double> &array : at) pointers.push_back(in.emplace_back(array).data());
    Memory out(8);
    std::vector<void *> result{out.data()};
    plan->run(pointers, result, {});
    return out.as<double>()[0];
  };
  const double h = 1e-6;
  for (size_t t = 0; t < wrt.size(); ++t) {
    size_t count = inputs[wrt[t]].size();
    for (size_t i = 0; i < count; i += std::max<size_t>(1, count / 5)) {
      Arrays<double> above = inputs, below = inputs;
      above[wrt[t]][i] += h;
      below[wrt[t]][i] -= h;
      EXPECT_NEAR(gradients[t][i], (value(above) - value(below)) / (2 * h), 1e-6) << "input " << t << " element " << i;
    }
  }
}

AttrList sumOver(Shape axes) { return {Attr::word("kind", "reduce_kind sum"), Attr::of("axes", axes)}; }

// A scalar that all elements matter to differently.
Graph summed(Builder &b, uint32_t y, const TensorType &type) {
  uint32_t square = b.op("mul", {y, y}, type), wave = b.op("sin", {y}, type);
  uint32_t mix = b.op("add", {square, wave}, type);
  Shape axes;
  for (int axis = 0; axis < type.shape.rank(); ++axis) axes.push_back(axis);
  return b.give({b.op("reduce", {mix}, f64({}), sumOver(axes))});
}

TEST(BridgeGradient, OfLayers) {
  Builder b;
  uint32_t x = b.input(f64({5, 4})), w = b.input(f64({6, 4})), bias = b.input(f64({6})), v = b.input(f64({6, 3}));
  uint32_t h = b.op("linear", {x, w, bias}, f64({5, 6}));
  uint32_t a = b.op("gelu", {h}, f64({5, 6}));
  uint32_t y = b.op("matmul", {a, v}, f64({5, 3}));
  uint32_t p = b.op("softmax", {y}, f64({5, 3}), {Attr::of("axis", 1)});
  expectDifferences(summed(b, p, f64({5, 3})), {x, w, bias, v});
}

TEST(BridgeGradient, OfValuesUsedTwiceAndNotAtAll) {
  Builder b;
  uint32_t x = b.input(f64({3})), y = b.input(f64({3})), z = b.input(f64({2}));
  uint32_t product = b.op("mul", {x, y}, f64({3})), sum = b.op("add", {product, x}, f64({3}));
  Graph forward = summed(b, sum, f64({3}));
  expectDifferences(forward, {x, y, z, x});
}

TEST(BridgeGradient, OfAScan) {
  Builder step;
  uint32_t xt = step.input(f64({2, 4})), s = step.input(f64({2, 4})), w = step.input(f64({4, 4}));
  uint32_t product = step.op("matmul", {s, w}, f64({2, 4}));
  uint32_t next = step.op("tanh", {step.op("add", {xt, product}, f64({2, 4}))}, f64({2, 4}));
  Builder b;
  uint32_t x = b.input(f64({5, 2, 4})), h0 = b.input(f64({2, 4})), weight = b.input(f64({4, 4}));
  std::vector<uint32_t> results =
      b.ops("scan", {x, h0, weight}, {f64({2, 4}), f64({5, 2, 4})},
            {Attr::of("steps", 5), Attr::of("operandSegmentSizes", Shape{1, 1, 1})}, {step.give({next, next})});
  expectDifferences(summed(b, results[1], f64({5, 2, 4})), {x, h0, weight});
}

TEST(BridgeGradient, OfACheckpointAndACustomGradient) {
  Builder part;
  uint32_t a = part.input(f64({4}));
  Graph inner = part.give({part.op("exp", {part.op("sin", {a}, f64({4}))}, f64({4}))});
  Builder b;
  uint32_t x = b.input(f64({4}));
  expectDifferences(summed(b, b.op("checkpoint", {x}, f64({4}), {}, {inner}), f64({4})), {x});

  // Twice the value, three times the cotangent.
  Builder forward, backward;
  uint32_t in = forward.input(f64({4}));
  Graph twice = forward.give({forward.op("add", {in, in}, f64({4}))});
  backward.input(f64({4})), backward.input(f64({4}));
  uint32_t g = backward.input(f64({4}));
  uint32_t three = backward.constant<double>(f64({}), {3});
  Graph thrice = backward.give({backward.op("mul", {g, three}, f64({4}))});
  Builder custom;
  uint32_t y = custom.input(f64({4}));
  uint32_t z = custom.op("custom_gradient", {y}, f64({4}), {}, {twice, thrice});
  Graph sum = custom.give({custom.op("reduce", {z}, f64({}), sumOver(Shape{0}))});
  Continuation next = gradientOf(sum, sum.outputs, std::vector<uint32_t>{y}, false);
  EXPECT_EQ(run<double>(joined(sum, next), inputsOf<double>(sum))[0], std::vector<double>(4, 3.0));
}

TEST(BridgeGradient, OfAGradient) {
  Builder b;
  uint32_t x = b.input(f64({4}));
  Graph forward =
      b.give({b.op("reduce", {b.op("sin", {b.op("mul", {x, x}, f64({4}))}, f64({4}))}, f64({}), sumOver(Shape{0}))});
  Graph first = joined(forward, gradientOf(forward, forward.outputs, std::vector<uint32_t>{x}, false));
  Builder sum;
  sum.graph = first;
  sum.graph.outputs.clear();
  expectDifferences(summed(sum, first.outputs[0], f64({4})), {x});
}

TEST(BridgeGradient, OfSeededVectorsAndAlongTangents) {
  Builder b;
  uint32_t x = b.input(f64({3})), w = b.input(f64({3}));
  uint32_t y = b.op("sin", {x}, f64({3})), z = b.op("mul", {x, w}, f64({3}));
  Graph forward = b.give({y, z});
  std::vector<double> xs{0.1, 0.2, 0.3}, ws{4, 5, 6}, u{1, 10, 100}, v{0.5, 0.25, 0.125};
  Continuation vjp = gradientOf(forward, forward.outputs, std::vector<uint32_t>{x, w}, true);
  ASSERT_EQ(vjp.graph.inputCount, vjp.uses.size() + 2);
  Arrays<double> products = run<double>(joined(forward, vjp), {xs, ws, u, v});
  Continuation jvp = tangentOf(forward, forward.outputs, std::vector<uint32_t>{x});
  Arrays<double> derivatives = run<double>(joined(forward, jvp), {xs, ws, u});
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_NEAR(products[0][i], std::cos(xs[i]) * u[i] + ws[i] * v[i], 1e-12);
    EXPECT_NEAR(products[1][i], xs[i] * v[i], 1e-12);
    EXPECT_NEAR(derivatives[0][i], std::cos(xs[i]) * u[i], 1e-12);
    EXPECT_NEAR(derivatives[1][i], ws[i] * u[i], 1e-12);
  }
}

// 32-bit floats, where another order of operations would show.
TEST(BridgeGradient, HasTheSameBitsInEveryForm) {
  Builder b;
  uint32_t x = b.input(f32({16, 33})), w = b.input(f32({64, 33})), c = b.input(f32({64})), v = b.input(f32({10, 64}));
  uint32_t target = b.input(f32({16, 10}));
  uint32_t h = b.op("linear", {x, w, c}, f32({16, 64}));
  uint32_t n = b.op("silu", {h}, f32({16, 64}));
  uint32_t y = b.op("matmul", {n, v}, f32({16, 10}), {Attr::unit("transpose_rhs")});
  uint32_t l = b.op("log_softmax", {y}, f32({16, 10}), {Attr::of("axis", 1)});
  uint32_t loss = b.op("reduce", {b.op("mul", {l, target}, f32({16, 10}))}, f32({}), sumOver(Shape{0, 1}));
  Graph forward = b.give({loss});
  std::vector<uint32_t> wrt{w, c, v};
  Arrays<float> inputs = inputsOf<float>(forward);
  Continuation next = gradientOf(forward, forward.outputs, wrt, false);
  Arrays<float> whole = run<float>(withRequest(forward, wrt), inputs);
  EXPECT_EQ(run<float>(joined(forward, next), inputs), whole);
  EXPECT_EQ(inTwoParts<float>(forward, next, inputs), whole);
  // What the forward pass has is used, not computed again: no product of it comes back.
  int products = 0;
  for (const GraphNode &node : next.graph.nodes) products += node.op->text == "nn.matmul";
  EXPECT_EQ(products, 3);
}

TEST(BridgeGradient, RefusesWhatHasNone) {
  Builder b;
  uint32_t x = b.input(f64({3})), i = b.input(i64({3}));
  Graph forward = b.give({b.op("sin", {x}, f64({3}))});
  auto of = [&](std::vector<uint32_t> outputs, std::vector<uint32_t> wrt) {
    return errorOf([&] { gradientOf(forward, outputs, wrt, false); });
  };
  EXPECT_EQ(of({2}, {x}), "a gradient is of one scalar, or of values whose cotangents are given; this is of 3xf64");
  EXPECT_EQ(of({2}, {i}), "a gradient with respect to 3xi64, which is not of a floating-point type");
}

} // namespace
} // namespace sprig::frontend::test
