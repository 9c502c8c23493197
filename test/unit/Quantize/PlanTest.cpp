#include "lib/Quantize/Plan.h"
#include "test/unit/Quantize/Models.h"
#include <cmath>
#include <gtest/gtest.h>

namespace sprig::quantize {
namespace {

std::vector<std::string> tensorsOf(const Plan &plan) {
  std::vector<std::string> names;
  for (const auto &[tensor, root] : plan.tensors) names.push_back(tensor + (root == tensor ? "" : "<" + root));
  return names;
}
using Names = std::vector<std::string>;

/// x -> conv a -> relu -> pool -> conv b, conv c -> add -> relu -> mean -> flatten -> gemm.
Graph residual() {
  return ModelBuilder()
      .input("x", {1, 1, 4, 4})
      .constant("w", {1, 1, 1, 1}, {1})
      .constant("g", {1, 2}, {1, 2})
      .constant("gb", {2}, {1, 2})
      .node("Conv", {"x", "w"}, "a")
      .node("Relu", {"a"}, "ar")
      .node("MaxPool", {"ar"}, "p")
      .node("Conv", {"p", "w"}, "b")
      .node("Conv", {"p", "w"}, "c")
      .node("Add", {"b", "c"}, "s")
      .node("Relu", {"s"}, "sr")
      .node("GlobalAveragePool", {"sr"}, "m")
      .node("Flatten", {"m"}, "f")
      .node("Gemm", {"f", "g", "gb"}, "y")
      .output("y")
      .build();
}

TEST(PlanTest, QuantisersAreAroundOperators) {
  PlanOptions options;
  options.standing = Standing::around;
  Plan found = plan(residual(), options);
  ASSERT_EQ(found.layers.size(), 4u);
  EXPECT_EQ(found.layers[0].output, "ar");
  EXPECT_EQ(found.layers[3].bias, "gb");
  EXPECT_EQ(found.layers[3].axis, 1);
  EXPECT_EQ(tensorsOf(found), (Names{"ar", "b", "c", "f<m", "m", "p<ar", "sr", "x"}));
  EXPECT_EQ(found.dropped.size(), 2u);
}

TEST(PlanTest, OperandsAlone) {
  // The later of the two branches goes into the sum as it was accumulated.
  EXPECT_EQ(tensorsOf(plan(residual(), {})), (Names{"ar", "b", "f<m", "m", "p<ar", "sr", "x"}));
}

TEST(PlanTest, ExcludedLayers) {
  PlanOptions options;
  options.standing = Standing::around;
  options.exclude = {"y", "nothing"};
  Plan found = plan(residual(), options);
  EXPECT_EQ(found.excluded, Names{"y"});
  EXPECT_EQ(found.unknown, Names{"nothing"});
  // What carried integers to the layer carries them no longer.
  EXPECT_EQ(tensorsOf(found), (Names{"ar", "b", "c", "p<ar", "x"}));
}

TEST(PlanTest, ExcludedLayersReadFloats) {
  PlanOptions options;
  options.standing = Standing::around;
  options.exclude = {"b", "c"};
  // The convolution before them is followed by no quantiser, through the pool.
  EXPECT_EQ(tensorsOf(plan(residual(), options)), (Names{"f", "x"}));
}

TEST(PlanTest, SymmetricQuantisersLeaveActivations) {
  PlanOptions options;
  options.dropActivations = false;
  EXPECT_TRUE(plan(residual(), options).dropped.empty());
}

TEST(PlanTest, ProductsOfTwoTensorsAndAddedBiases) {
  Graph graph = ModelBuilder()
                    .input("x", {2, 2})
                    .constant("w", {2, 2}, {1, 2, 3, 4})
                    .constant("b", {2}, {1, 2})
                    .node("MatMul", {"x", "w"}, "m")
                    .node("Add", {"b", "m"}, "q")
                    .node("MatMul", {"q", "x"}, "y")
                    .output("y")
                    .build();
  EXPECT_EQ(plan(graph, {}).layers.size(), 1u);
  PlanOptions options;
  options.computed = true;
  Plan found = plan(graph, options);
  ASSERT_EQ(found.layers.size(), 2u);
  EXPECT_EQ(found.layers[0].bias, "b");
  EXPECT_EQ(found.layers[0].output, "q");
  EXPECT_FALSE(found.layers[1].isConstant);
  EXPECT_EQ(tensorsOf(found), (Names{"q", "x"}));
  options.notFloat = {"q"};
  EXPECT_EQ(plan(graph, options).layers.size(), 1u);
}

TEST(PlanTest, ClipsGoOnlyWhereTheyBeginAtZero) {
  auto clipped = [](float low) {
    return ModelBuilder()
        .input("x", {1, 1, 2, 2})
        .constant("w", {1, 1, 1, 1}, {1})
        .constant("low", {}, {low})
        .constant("high", {}, {6})
        .node("Conv", {"x", "w"}, "a")
        .node("Clip", {"a", "low", "high"}, "c")
        .node("Conv", {"c", "w"}, "y")
        .output("y")
        .build();
  };
  EXPECT_EQ(plan(clipped(0), {}).dropped.size(), 1u);
  EXPECT_EQ(plan(clipped(-1), {}).dropped.size(), 0u);
}

TEST(PlanTest, WeightsOfAnotherRankMakeNoLayer) {
  auto layers = [](const char *op, const std::vector<int64_t> &shape) {
    return plan(ModelBuilder()
                    .input("x", {})
                    .constant("w", shape, std::vector<float>(shape.empty() ? 1 : 2, 1))
                    .node(op, {"x", "w"}, "y")
                    .output("y")
                    .build(),
                {})
        .layers.size();
  };
  for (const char *op : {"Conv", "ConvTranspose", "Gemm", "MatMul"}) EXPECT_EQ(layers(op, {}), 0u) << op;
  for (const char *op : {"Conv", "ConvTranspose", "Gemm"}) EXPECT_EQ(layers(op, {2}), 0u) << op;
  EXPECT_EQ(layers("MatMul", {2}), 1u);
  EXPECT_EQ(layers("Conv", {2, 1}), 0u);
  EXPECT_EQ(layers("Conv", {2, 1, 1}), 1u);
  EXPECT_EQ(layers("Gemm", {2, 1, 1}), 0u);
}

TEST(PlanTest, NodesOfOneNameAreTwoLayers) {
  Graph graph = ModelBuilder()
                    .input("x", {2, 2})
                    .constant("w", {2, 2}, {1, 2, 3, 4})
                    .node("MatMul", {"x", "w"}, "a")
                    .node("MatMul", {"a", "w"}, "y")
                    .output("y")
                    .build();
  graph.node(1).set_name("a");
  PlanOptions options;
  options.exclude = {"a#2"};
  Plan found = plan(graph, options);
  ASSERT_EQ(found.layers.size(), 1u);
  EXPECT_EQ(found.layers[0].name, "a");
  EXPECT_EQ(found.excluded, Names{"a#2"});
}

TEST(PlanTest, WeightsAreFinite) {
  Graph graph = ModelBuilder()
                    .input("x", {2, 2})
                    .constant("w", {2, 2}, {1, 2, NAN, 4})
                    .node("MatMul", {"x", "w"}, "y")
                    .output("y")
                    .build();
  try {
    requireFinite(graph, plan(graph, {}));
    FAIL() << "nothing was refused";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("'y' (MatMul) has a weight 'w' with nan as element 2"), std::string::npos)
        << error.what();
  }
}

TEST(PlanTest, QuantisedModelsAreKnown) {
  Graph graph = residual();
  EXPECT_EQ(firstQuantised(graph), -1);
  Graph other = ModelBuilder().input("x", {2}).node("DynamicQuantizeLinear", {"x"}, "y").output("y").build();
  EXPECT_EQ(firstQuantised(other), 0);
}

} // namespace
} // namespace sprig::quantize
