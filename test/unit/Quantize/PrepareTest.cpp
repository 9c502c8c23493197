#include "lib/Quantize/Prepare.h"
#include "test/unit/Quantize/Models.h"
#include <gtest/gtest.h>

namespace sprig::quantize {
namespace {

TEST(PrepareTest, NormsBecomePartOfConvolutions) {
  Graph graph = ModelBuilder()
                    .input("x", {1, 1, 2, 2})
                    .constant("w", {2, 1, 1, 1}, {3, 5})
                    .constant("b", {2}, {1, 1})
                    .constant("scale", {2}, {2, 4})
                    .constant("shift", {2}, {10, 20})
                    .constant("mean", {2}, {0, 1})
                    .constant("var", {2}, {1 - 1e-5f, 4 - 1e-5f})
                    .node("Conv", {"x", "w", "b"}, "c")
                    .node("BatchNormalization", {"c", "scale", "shift", "mean", "var"}, "y")
                    .output("y")
                    .build();
  prepare(graph);
  ASSERT_EQ(operators(graph), "Conv");
  const auto &conv = graph.node(0);
  EXPECT_EQ(conv.output(0), "y");
  Floats weight = *graph.floats(conv.input(1)), bias = *graph.floats(conv.input(2));
  EXPECT_NEAR(weight.values[0], 6, 1e-4);
  EXPECT_NEAR(weight.values[1], 10, 1e-4);
  EXPECT_NEAR(bias.values[0], 12, 1e-4); // (1 - 0) 2 + 10
  EXPECT_NEAR(bias.values[1], 20, 1e-4); // (1 - 1) 2 + 20
  EXPECT_EQ(graph.constant("mean"), nullptr);
}

TEST(PrepareTest, NormsOfWhatOthersReadStay) {
  ModelBuilder builder;
  builder.input("x", {1, 1, 2, 2}).constant("w", {1, 1, 1, 1}, {3});
  for (const char *name : {"scale", "shift", "mean", "var"}) builder.constant(name, {1}, {1});
  Graph graph = builder.node("Conv", {"x", "w"}, "c")
                    .node("BatchNormalization", {"c", "scale", "shift", "mean", "var"}, "y")
                    .output("y")
                    .output("c")
                    .build();
  prepare(graph);
  EXPECT_EQ(operators(graph), "Conv BatchNormalization");
}

TEST(PrepareTest, NormsBehindProductsWhoseBiasIsAColumnStay) {
  auto with = [](const std::vector<int64_t> &shape) {
    ModelBuilder builder;
    builder.input("x", {2, 2}).constant("w", {2, 2}, {1, 2, 3, 4}).constant("c", shape, {5, 6});
    for (const char *name : {"scale", "shift", "mean", "var"}) builder.constant(name, {2}, {1, 2});
    Graph graph = builder.node("Gemm", {"x", "w", "c"}, "a")
                      .node("BatchNormalization", {"a", "scale", "shift", "mean", "var"}, "y")
                      .output("y")
                      .build();
    prepare(graph);
    return operators(graph);
  };
  EXPECT_EQ(with({2}), "Gemm");
  EXPECT_EQ(with({1, 2}), "Gemm");
  EXPECT_EQ(with({2, 1}), "Gemm BatchNormalization");
}

TEST(PrepareTest, IdentitiesAndConstantsBehindThem) {
  Graph graph = ModelBuilder()
                    .input("x", {1, 2})
                    .constant("w", {3, 2}, {1, 2, 3, 4, 5, 6})
                    .node("Identity", {"w"}, "w2")
                    .node("Transpose", {"w2"}, "w3")
                    .node("Dropout", {"x"}, "d")
                    .node("Identity", {"d"}, "i")
                    .node("MatMul", {"i", "w3"}, "y")
                    .output("y")
                    .build();
  prepare(graph);
  ASSERT_EQ(operators(graph), "MatMul");
  EXPECT_EQ(graph.node(0).input(0), "x");
  Floats weight = *graph.floats(graph.node(0).input(1));
  EXPECT_EQ(weight.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(weight.values, (std::vector<float>{1, 3, 5, 2, 4, 6}));
}

TEST(PrepareTest, ActivationsComeBeforePools) {
  Graph graph =
      ModelBuilder().input("x", {1, 1, 4, 4}).node("MaxPool", {"x"}, "p").node("Relu", {"p"}, "y").output("y").build();
  prepare(graph);
  ASSERT_EQ(operators(graph), "Relu MaxPool");
  EXPECT_EQ(graph.node(0).input(0), "x");
  EXPECT_EQ(graph.node(1).output(0), "y");
  EXPECT_EQ(graph.node(1).input(0), graph.node(0).output(0));
}

TEST(PrepareTest, ClipsOfComputedBoundsStayBehindPools) {
  auto clipped = [](const char *low) {
    Graph graph = ModelBuilder()
                      .input("x", {1, 1, 4, 4})
                      .constant("zero", {}, {0})
                      .node("MaxPool", {"x"}, "p")
                      .node("ReduceMin", {"x"}, "computed", {{"keepdims", 0}})
                      .node("Clip", {"p", low}, "y")
                      .output("y")
                      .build();
    prepare(graph);
    return operators(graph);
  };
  EXPECT_EQ(clipped("zero"), "Clip MaxPool");
  EXPECT_EQ(clipped("computed"), "MaxPool ReduceMin Clip");
}

TEST(PrepareTest, ConstantsAreNoInputsAndTheFormatAllowsIt) {
  ModelBuilder builder(9);
  builder.model.set_ir_version(3);
  Graph graph = builder.input("x", {1, 2})
                    .input("w", {2, 2})
                    .constant("w", {2, 2}, {1, 2, 3, 4})
                    .node("MatMul", {"x", "w"}, "y")
                    .output("y")
                    .build();
  EXPECT_EQ(graph.graph().input_size(), 1);
  EXPECT_EQ(graph.model.ir_version(), 4);
  upgrade(graph);
  EXPECT_EQ(graph.model.ir_version(), 7); // of opset 13
}

TEST(PrepareTest, NodesWithoutOperandsOrResultsAreRefused) {
  auto messageOf = [](const ModelBuilder &builder) -> std::string {
    try {
      builder.build();
    } catch (const Error &error) {
      return error.what();
    }
    return "";
  };
  ModelBuilder lacking;
  lacking.input("x", {1, 2}).node("Add", {"x"}, "y").output("y");
  EXPECT_EQ(messageOf(lacking), "test.onnx: #0 'y' (Add) has 1 operands; expected 2 at least");
  ModelBuilder deaf;
  deaf.input("x", {1, 2}).node("Reshape", {}, "y").output("y");
  EXPECT_EQ(messageOf(deaf), "test.onnx: #0 'y' (Reshape) has 0 operands; expected 1 at least");
  ModelBuilder mute;
  mute.input("x", {1, 2}).node("Relu", {"x"}, "y").output("x");
  mute.model.mutable_graph()->mutable_node(0)->clear_output();
  EXPECT_EQ(messageOf(mute), "test.onnx: #0 'y' (Relu) has no result; expected one at least");
}

TEST(PrepareTest, OlderOperatorsGetTheirOperands) {
  ModelBuilder builder(10);
  builder.input("x", {1, 2, 3}).node("Clip", {"x"}, "c").node("Softmax", {"c"}, "y", {{"axis", 1}}).output("y");
  auto *low = builder.model.mutable_graph()->mutable_node(0)->add_attribute();
  low->set_name("min");
  low->set_type(onnx::AttributeProto::FLOAT);
  low->set_f(0.5f);
  Graph graph = builder.build();
  upgrade(graph);
  EXPECT_EQ(graph.opset(), 13);
  EXPECT_EQ(operators(graph), "Clip Shape Flatten Softmax Reshape");
  ASSERT_EQ(graph.node(0).input_size(), 2);
  EXPECT_EQ(graph.floats(graph.node(0).input(1))->values[0], 0.5f);
  EXPECT_EQ(graph.node(4).output(0), "y");
}

TEST(PrepareTest, OldOperatorsWithoutANewFormAreRefused) {
  Graph resize = ModelBuilder(10)
                     .input("x", {1, 1, 2, 2})
                     .constant("s", {4}, {1, 1, 2, 2})
                     .node("Resize", {"x", "s"}, "y")
                     .output("y")
                     .build();
  try {
    upgrade(resize);
    FAIL() << "nothing was refused";
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_NE(std::string(error.what()).find("'y' (Resize) of opset 10"), std::string::npos) << error.what();
  }
  Graph old = ModelBuilder(8).input("x", {1}).node("Relu", {"x"}, "y").output("y").build();
  EXPECT_THROW(upgrade(old), Error);
}

} // namespace
} // namespace sprig::quantize
