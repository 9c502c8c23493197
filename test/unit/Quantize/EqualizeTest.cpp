#include "lib/Quantize/Equalize.h"
#include "test/unit/Quantize/Models.h"
#include <cmath>
#include <gtest/gtest.h>

namespace sprig::quantize {
namespace {

std::vector<float> evaluate(const Graph &graph, const std::vector<float> &x);

/// x (2) -> Gemm w, b (2 outputs) -> Relu -> Gemm v (1 output).
Graph chain(bool otherReader = false) {
  ModelBuilder builder;
  builder.input("x", {1, 2})
      .constant("w", {2, 2}, {1, 100, 2, -50})
      .constant("b", {2}, {1, 2})
      .constant("v", {2, 1}, {3, 0.25f})
      .node("Gemm", {"x", "w", "b"}, "a")
      .node("Relu", {"a"}, "r")
      .node("Gemm", {"r", "v"}, "y")
      .output("y");
  if (otherReader) builder.output("r");
  return builder.build();
}

/// What the chain computes, by its constants.
std::vector<float> evaluate(const Graph &graph, const std::vector<float> &x) {
  Floats w = *graph.floats(graph.node(0).input(1)), b = *graph.floats(graph.node(0).input(2)),
         v = *graph.floats(graph.node(2).input(1));
  float y = 0;
  for (size_t c = 0; c < 2; ++c)
    y += std::max(x[0] * w.values[c] + x[1] * w.values[2 + c] + b.values[c], 0.0f) * v.values[c];
  return {y};
}

TEST(EqualizeTest, RangesBecomeAlikeAndTheFunctionStays) {
  Graph graph = chain();
  float before = evaluate(graph, {0.5f, -0.25f})[0];
  EXPECT_EQ(equalize(graph, plan(graph, {})), 1);
  EXPECT_NEAR(evaluate(graph, {0.5f, -0.25f})[0], before, std::abs(before) * 1e-5);
  Floats w = *graph.floats(graph.node(0).input(1)), v = *graph.floats(graph.node(2).input(1));
  for (size_t c = 0; c < 2; ++c)
    EXPECT_NEAR(std::max(std::abs(w.values[c]), std::abs(w.values[2 + c])), std::abs(v.values[c]), 1e-3) << c;
}

TEST(EqualizeTest, WhatOthersReadStays) {
  Graph graph = chain(true);
  EXPECT_EQ(equalize(graph, plan(graph, {})), 0);
  EXPECT_EQ(graph.node(0).input(1), "w");
}

TEST(EqualizeTest, DepthwiseConvolutionsHaveOneChannelForEach) {
  Graph graph = ModelBuilder()
                    .input("x", {1, 2, 2, 2})
                    .constant("d", {2, 1, 1, 1}, {8, 1})
                    .constant("p", {1, 2, 1, 1}, {2, 4})
                    .node("Conv", {"x", "d"}, "a", {{"group", 2}})
                    .node("Conv", {"a", "p"}, "y")
                    .output("y")
                    .build();
  EXPECT_EQ(equalize(graph, plan(graph, {})), 1);
  Floats d = *graph.floats(graph.node(0).input(1)), p = *graph.floats(graph.node(1).input(1));
  for (size_t c = 0; c < 2; ++c) EXPECT_NEAR(d.values[c], p.values[c], 1e-3) << c;
  EXPECT_NEAR(d.values[0] * p.values[0], 16, 1e-3);
  EXPECT_NEAR(d.values[1] * p.values[1], 4, 1e-3);
}

/// x -> first of w -> second of v.
int pairs(const char *first, const std::vector<int64_t> &w, const char *second, const std::vector<int64_t> &v,
          const std::vector<std::pair<std::string, int64_t>> &attributes = {}) {
  auto values = [](const std::vector<int64_t> &shape) {
    int64_t count = 1;
    for (int64_t n : shape) count *= n;
    return std::vector<float>(size_t(count), 2);
  };
  Graph graph = ModelBuilder()
                    .input("x", {})
                    .constant("w", w, values(w))
                    .constant("v", v, values(v))
                    .node(first, {"x", "w"}, "a")
                    .node(second, {"a", "v"}, "y", attributes)
                    .output("y")
                    .build();
  return equalize(graph, plan(graph, {}));
}

TEST(EqualizeTest, ChannelsAreOfTheSameAxis) {
  EXPECT_EQ(pairs("Gemm", {2, 3}, "MatMul", {3, 2}), 1);
  EXPECT_EQ(pairs("ConvTranspose", {3, 4, 1, 1}, "ConvTranspose", {4, 5, 1, 1}), 1);
  EXPECT_EQ(pairs("ConvTranspose", {3, 4, 1, 1}, "MatMul", {4, 5}), 0);
  EXPECT_EQ(pairs("ConvTranspose", {3, 4, 1, 1}, "Conv", {5, 4, 1, 1}), 0);
  EXPECT_EQ(pairs("Gemm", {2, 3}, "Gemm", {3, 2}, {{"transA", 0}}), 1);
  EXPECT_EQ(pairs("Gemm", {2, 3}, "Gemm", {3, 2}, {{"transA", 1}}), 0);
}

TEST(EqualizeTest, MeansOfResultsMoveByWhatWeightsWereRounded) {
  // Two outputs of two inputs whose means are 10 and 1; transposed.
  onnx::NodeProto gemm = makeNode("Gemm", "g", {"x", "w"}, "y");
  std::vector<double> shift = shiftOfMeans(gemm, {2, 2}, {1, 2, 3, 4}, {1.5f, 2, 3, 3}, 1, {10, 1});
  EXPECT_EQ(shift, (std::vector<double>{5, -1}));
  shift = shiftOfMeans(gemm, {2, 2}, {1, 2, 3, 4}, {1.5f, 2, 3, 3}, 0, {10, 1});
  EXPECT_EQ(shift, (std::vector<double>{5, -1}));
  setInteger(gemm, "transA", 1);
  EXPECT_TRUE(shiftOfMeans(gemm, {2, 2}, {1, 2, 3, 4}, {1.5f, 2, 3, 3}, 0, {10, 1}).empty());
  // Two groups of one channel, kernels of two places.
  onnx::NodeProto conv = makeNode("Conv", "c", {"x", "w"}, "y");
  setInteger(conv, "group", 2);
  shift = shiftOfMeans(conv, {2, 1, 1, 2}, {0, 0, 0, 0}, {1, 1, 0, 2}, 0, {10, 3});
  EXPECT_EQ(shift, (std::vector<double>{20, 6}));
  EXPECT_TRUE(shiftOfMeans(conv, {2, 1, 1, 2}, {0, 0, 0, 0}, {1, 1, 0, 2}, 0, {10}).empty());
}

TEST(EqualizeTest, BiasesOfZerosForThoseThatHaveNone) {
  Graph graph = ModelBuilder()
                    .input("x", {1, 2})
                    .constant("w", {2, 3}, {1, 2, 3, 4, 5, 6})
                    .node("Gemm", {"x", "w"}, "y")
                    .output("y")
                    .build();
  giveBiases(graph);
  EXPECT_EQ(graph.floats(graph.node(0).input(2))->values, (std::vector<float>{0, 0, 0}));
}

} // namespace
} // namespace sprig::quantize
