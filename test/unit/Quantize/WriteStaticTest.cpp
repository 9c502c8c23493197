#include "lib/Quantize/WriteStatic.h"
#include "lib/Quantize/FoldWeights.h"
#include "test/unit/Quantize/Models.h"
#include <cstring>
#include <gtest/gtest.h>

namespace sprig::quantize {
namespace {

Graph staticNetwork() {
  return ModelBuilder()
      .input("x", {1, 1, 2, 2})
      .constant("w", {2, 1, 1, 1}, {1, -2})
      .constant("b", {2}, {0.5f, 3})
      .constant("v", {1, 2, 1, 1}, {1, 1})
      .node("Conv", {"x", "w", "b"}, "a")
      .node("Relu", {"a"}, "r")
      .node("Conv", {"r", "v"}, "y")
      .output("y")
      .build();
}
const std::map<std::string, Range> kRanges = {{"x", {-1, 1}}, {"r", {0, 5.1f}}, {"y", {-2, 2}}};

TEST(WriteStaticTest, QuantisersStandAroundConvolutions) {
  Graph graph = staticNetwork();
  WrittenStatic written = writeStatic(graph, plan(graph, {}), kRanges, {});
  // The activation is what the quantiser of its result does.
  EXPECT_EQ(operators(graph), "QuantizeLinear DequantizeLinear DequantizeLinear DequantizeLinear Conv QuantizeLinear "
                              "DequantizeLinear DequantizeLinear Conv");
  EXPECT_FLOAT_EQ(written.quantizers.at("r").scale, 0.02f);
  EXPECT_EQ(written.quantizers.at("r").zero, 0);
  EXPECT_EQ(graph.constant("w"), nullptr);
  EXPECT_EQ(graph.constant("w_quantized")->data_type(), onnx::TensorProto::INT8);
  EXPECT_EQ(graph.node(4).output(0), "r");
}

// The same integers as from static quantisation, of weights as they are when they are folded.
TEST(WriteStaticTest, TrainableWeightsAreFoldedOnceTheyWereTrained) {
  for (int opset : {13, 18}) {
    for (int bits : {8, 4}) {
      Graph graph = staticNetwork(), other = staticNetwork();
      graph.setOpset(opset);
      StaticOptions options;
      options.weightBits = bits;
      writeStatic(other, plan(other, {}), kRanges, options);
      options.trainable = true;
      writeStatic(graph, plan(graph, {}), kRanges, options);
      ASSERT_NE(graph.constant("w"), nullptr);
      ASSERT_NE(graph.constant("b"), nullptr);
      EXPECT_NE(operators(graph).find("Abs ReduceMax Div Max QuantizeLinear DequantizeLinear Conv"), std::string::npos)
          << operators(graph);
      EXPECT_EQ(foldWeights(graph), 2);
      EXPECT_EQ(graph.constant("w"), nullptr);
      EXPECT_EQ(operators(graph),
                "QuantizeLinear DequantizeLinear DequantizeLinear Conv QuantizeLinear DequantizeLinear "
                "DequantizeLinear Conv");
      for (const auto &node : graph.graph().node()) {
        if (node.op_type() != "Conv") continue;
        int maker = graph.maker(node.input(1));
        std::string name = node.output(0) == "y" ? "v" : "w";
        const auto &weight = graph.node(maker);
        EXPECT_EQ(graph.constant(weight.input(0))->raw_data(), other.constant(name + "_quantized")->raw_data()) << bits;
        EXPECT_EQ(graph.floats(weight.input(1))->values, other.floats(name + "_scale")->values) << bits;
      }
    }
  }
  Graph none = staticNetwork();
  EXPECT_EQ(foldWeights(none), 0);
}

TEST(WriteStaticTest, ScalesOfOtherNumbersAreNotFolded) {
  Graph graph = staticNetwork();
  StaticOptions options;
  options.trainable = true;
  writeStatic(graph, plan(graph, {}), kRanges, options);
  for (int i = 0; i < graph.nodes(); ++i)
    if (graph.node(i).op_type() == "Abs" && graph.node(i).input(0) == "w") graph.node(i).set_op_type("Neg");
  try {
    foldWeights(graph);
    FAIL() << "the weight's scale is no longer of its largest numbers";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("weight 'w': its quantiser"), std::string::npos) << error.what();
  }
}

TEST(WriteStaticTest, BiasesHaveTheScaleOfTheProduct) {
  Graph graph = staticNetwork();
  WrittenStatic written = writeStatic(graph, plan(graph, {}), kRanges, {});
  Floats weights = *graph.floats("w_scale"), bias = *graph.floats("b_scale");
  ASSERT_EQ(bias.values.size(), 2u);
  std::vector<int64_t> integers = *graph.integers("b_quantized");
  for (size_t c = 0; c < 2; ++c) {
    EXPECT_EQ(bias.values[c], written.quantizers.at("x").scale * weights.values[c]);
    EXPECT_NEAR(double(integers[c]) * bias.values[c], c == 0 ? 0.5 : 3, bias.values[c]);
  }
}

TEST(WriteStaticTest, SumsBesideABiasFitIn32Bits) {
  // Small weights: at their own scale, of a step of 1e-6 / 127 times 1 / 127, the bias would be about 2e9 steps.
  constexpr int64_t kDepth = 4096;
  auto layer = [](int64_t depth, float bias) {
    return ModelBuilder()
        .input("x", {1, depth})
        .constant("w", {depth, 1}, std::vector<float>(size_t(depth), 1e-6f))
        .constant("b", {1}, {bias})
        .node("Gemm", {"x", "w", "b"}, "y")
        .output("y")
        .build();
  };
  for (bool perChannel : {true, false}) {
    Graph graph = layer(kDepth, 0.066f);
    writeStatic(graph, plan(graph, {}), {{"x", {0, 1}}}, {{}, perChannel});
    ASSERT_TRUE(graph.integers("b_quantized")) << perChannel;
    int64_t integer = (*graph.integers("b_quantized"))[0];
    EXPECT_LT(integer + kDepth * 255 * 127, int64_t(1) << 31) << perChannel;
    EXPECT_NEAR(double(integer) * graph.floats("b_scale")->values[0], 0.066, 1e-6) << perChannel;
  }
  // So deep that nothing is left beside the sum: the bias stays a float.
  Graph deep = layer(70000, 0.066f);
  writeStatic(deep, plan(deep, {}), {{"x", {0, 1}}}, {});
  EXPECT_EQ(deep.constant("b_quantized"), nullptr);
}

TEST(WriteStaticTest, AWeightOfTwoLayersHasRoomForBothBiases) {
  for (bool perChannel : {true, false}) {
    Graph graph = ModelBuilder()
                      .input("x", {1, 1})
                      .constant("w", {1, 1}, {1e-6f})
                      .constant("b", {1}, {0})
                      .constant("c", {1}, {1})
                      .node("Gemm", {"x", "w", "b"}, "y")
                      .node("Gemm", {"x", "w", "c"}, "z")
                      .output("y")
                      .output("z")
                      .build();
    writeStatic(graph, plan(graph, {}), {{"x", {0, 1}}}, {{}, perChannel});
    ASSERT_TRUE(graph.integers("c_quantized")) << perChannel;
    EXPECT_NEAR(double((*graph.integers("c_quantized"))[0]) * graph.floats("c_scale")->values[0], 1, 1e-6);
  }
}

TEST(WriteStaticTest, OneScaleForAWeight) {
  Graph graph = staticNetwork();
  writeStatic(graph, plan(graph, {}), kRanges, {{}, /*perChannel=*/false});
  EXPECT_EQ(graph.floats("w_scale")->shape, std::vector<int64_t>{});
  EXPECT_FLOAT_EQ(graph.floats("w_scale")->values[0], 2.0f / 127);
  EXPECT_EQ(graph.floats("b_scale")->shape, std::vector<int64_t>{});
}

TEST(WriteStaticTest, OutputsKeepTheirNamesAndValues) {
  Graph graph = staticNetwork();
  graph.graph().add_output()->set_name("r");
  graph.index();
  writeStatic(graph, plan(graph, {}), kRanges, {});
  // The result is asked for as it is, so the activation stays.
  EXPECT_EQ(graph.node(graph.maker("r")).op_type(), "Relu");
}

TEST(WriteStaticTest, SwitchesChooseLayerByLayer) {
  Graph graph = staticNetwork();
  PlanOptions options;
  options.dropActivations = false;
  writeStatic(graph, plan(graph, options), kRanges, {{}, true, /*switches=*/true});
  EXPECT_EQ(graph.graph().input_size(), 3);
  EXPECT_TRUE(graph.isInput("sprig.quantize/a"));
  int wheres = 0;
  for (const auto &node : graph.graph().node()) wheres += node.op_type() == "Where";
  EXPECT_EQ(wheres, 5); // operand, weight and bias of one, operand and weight of the other
}

} // namespace
} // namespace sprig::quantize
