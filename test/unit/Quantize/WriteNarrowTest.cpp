#include "lib/Quantize/WriteNarrowWeights.h"
#include "test/unit/Quantize/Models.h"
#include <cmath>
#include <gtest/gtest.h>

namespace sprig::quantize {
namespace {

Graph network() {
  return ModelBuilder()
      .input("x", {1, 1, 1, 2})
      .constant("w", {2, 1, 1, 1}, {1, -2})
      .constant("b", {2}, {1, 2})
      .constant("g", {3, 4}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
      .constant("gb", {3}, {1, 2, 3})
      .node("Conv", {"x", "w", "b"}, "c")
      .node("Flatten", {"c"}, "f")
      .node("Gemm", {"f", "g", "gb"}, "y", {{"transB", 1}})
      .output("y")
      .build();
}

TEST(WriteNarrowTest, DynamicProductsAreOfIntegers) {
  Graph graph = network();
  WrittenWeights written = writeDynamic(graph, plan(graph, {}), true);
  EXPECT_EQ(operators(graph), "DynamicQuantizeLinear Mul ConvInteger Cast Mul Add Flatten "
                              "DynamicQuantizeLinear Mul MatMulInteger Cast Mul Add");
  EXPECT_EQ(written.weightDecibels.size(), 2u);
  // A transposed operand was turned, since MatMulInteger has none.
  EXPECT_EQ(graph.constant("g_quantized")->dims(0), 4);
  EXPECT_EQ(graph.constant("g_quantized")->dims(1), 3);
  EXPECT_EQ(graph.floats("g_scale")->shape, std::vector<int64_t>{3});
  EXPECT_EQ(graph.floats("w_scale")->shape, (std::vector<int64_t>{2, 1, 1}));
  EXPECT_EQ(graph.node(graph.nodes() - 1).output(0), "y");
}

TEST(WriteNarrowTest, OperandsOfSeveralProductsAreQuantisedOnce) {
  Graph graph = ModelBuilder()
                    .input("x", {1, 2})
                    .constant("v", {2, 1}, {1, 2})
                    .constant("w", {2, 1}, {1, 3})
                    .node("MatMul", {"x", "v"}, "a")
                    .node("MatMul", {"x", "w"}, "b")
                    .output("a")
                    .output("b")
                    .build();
  writeDynamic(graph, plan(graph, {}), true);
  EXPECT_EQ(operators(graph), "DynamicQuantizeLinear Mul MatMulInteger Cast Mul Mul MatMulInteger Cast Mul");
}

TEST(WriteNarrowTest, EightBitsAreReadBackByTheirScales) {
  Graph graph = network();
  writeNarrowWeights(graph, plan(graph, {}), {});
  EXPECT_EQ(operators(graph), "DequantizeLinear Conv Flatten DequantizeLinear Gemm");
  EXPECT_EQ(graph.constant("w_quantized")->data_type(), onnx::TensorProto::INT8);
  EXPECT_EQ(integer(graph.node(3), "axis", -1), 0);
}

TEST(WriteNarrowTest, FourBitsAreOfMatrixProducts) {
  Graph graph = network();
  writeNarrowWeights(graph, plan(graph, {}), {.bits = 4, .group = 16});
  EXPECT_EQ(operators(graph), "DequantizeLinear Conv Flatten MatMulNBits Add");
  EXPECT_EQ(graph.opset("com.microsoft"), 1);
  const auto &product = graph.node(3);
  EXPECT_EQ(integer(product, "K", 0), 4);
  EXPECT_EQ(integer(product, "N", 0), 3);
  EXPECT_EQ(product.input_size(), 4);
  EXPECT_EQ(graph.constant(product.input(1))->raw_data().size(), 24u); // 3 columns, one group of 16 halves
}

TEST(WriteNarrowTest, PackedMatricesStandForTheirNumbers) {
  // 2 columns of 37 numbers: three groups of 16, the last with 5.
  int64_t columns = 2, inner = 37, group = 16;
  std::vector<float> matrix;
  for (int64_t i = 0; i < columns * inner; ++i) matrix.push_back(float(std::sin(double(i)) + (i % 2 ? 0.5 : 0)));
  for (bool symmetric : {false, true}) {
    PackedMatrix packed = packMatrix(matrix, columns, inner, group, symmetric);
    EXPECT_EQ(packed.scales.size(), 6u);
    EXPECT_EQ(packed.zeroPoints.size(), symmetric ? 0u : 4u);
    std::vector<float> back = unpackMatrix(packed, columns, inner, group);
    ASSERT_EQ(back.size(), matrix.size());
    for (int64_t i = 0; i < columns * inner; ++i) {
      float scale = packed.scales[size_t(i / inner * 3 + i % inner / group)];
      // Half a step, or what a smaller step cut off at an end.
      EXPECT_NEAR(back[size_t(i)], matrix[size_t(i)], 2.5 * scale) << i;
    }
  }
}

TEST(WriteNarrowTest, NumbersOfSixteenStepsAreExact) {
  std::vector<float> matrix;
  for (int i = 0; i < 16; ++i) matrix.push_back(float(i - 5) * 0.25f);
  PackedMatrix packed = packMatrix(matrix, 1, 16, 16, false);
  EXPECT_EQ(unpackMatrix(packed, 1, 16, 16), matrix);
  EXPECT_EQ(packed.values[0], 0x10); // the lower half first
  EXPECT_EQ(packed.zeroPoints[0], 5);
}

} // namespace
} // namespace sprig::quantize
