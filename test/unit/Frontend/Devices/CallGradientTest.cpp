// Gradients of compiled functions over several devices: where they are computed, and that their bits are those of one.
#include "lib/Frontend/Engine/DerivedProgram.h"
#include "sprig/sprig.h"
#include "test/unit/Frontend/Devices/TwoDevices.h"
#include <cstring>
#include <gtest/gtest.h>
#include <map>

using namespace sprig;
using namespace sprig::frontend;

namespace {

/// A layer on each of two devices; what comes to x comes from both.
struct Layers {
  Device other;
  Parameter first, second;
  explicit Layers(const Device &other)
      : other(other), first(Tensor({{0.5f, -1.25f}, {0.75f, 0.3f}})),
        second(Tensor({{1.5f, 0.25f}, {-0.7f, 0.9f}}).to(other)) {}
  Tensor operator()(const Tensor &x) const {
    Tensor h = tanh(matmul(x, first)), there = h.to(other, true);
    return sigmoid(matmul(there, second)) + x.to(other, true);
  }
};

} // namespace

TEST(DeviceCallGradient, RunsWhereTheFunctionDoes) {
  Layers layers(kSecond);
  auto f = compile([&](Tensor x) { return layers(x); });
  Tensor x = Tensor({{0.3f, -0.7f}, {0.2f, 1.1f}}).requireGrad();
  Tensor y = f(x);
  std::shared_ptr<Variant> callee = y.raw()->producer->callee;
  ASSERT_TRUE(callee);
  grad(y, {x, layers.first, layers.second}, {.seeds = {ones({2, 2}).to(kSecond)}});
  ASSERT_EQ(callee->lineage.programs.size(), 1u);
  const Graph &graph = callee->lineage.programs.begin()->second->variant->graph;
  std::map<std::string, int> products; // by device
  for (const GraphNode &node : graph.nodes) {
    const Attr *place = find(node.attrs, "nn.place");
    std::string device = place ? place->text : "";
    // Constants, copies, and the sum of what comes to x, which goes with what it follows.
    bool isFree = node.constant || node.op->text == "nn.reshape" || node.op->text == "nn.add";
    EXPECT_TRUE(isFree || !device.empty()) << node.op->text;
    if (node.op->text == "nn.matmul") ++products[device];
  }
  EXPECT_EQ(products["\"cpu:0\""], 3); // of x and of its weights, and the forward one again
  EXPECT_EQ(products["\"cpu:1\""], 3);
}

TEST(DeviceCallGradient, HasTheBitsOfOneDevice) {
  auto run = [](const Device &other, bool compiled) {
    Layers layers(other);
    auto f = compile([&](Tensor x) { return layers(x); });
    f.enable(compiled);
    Tensor x = Tensor({{0.3f, -0.7f}, {0.2f, 1.1f}}).requireGrad();
    Tensor y = f(x);
    std::vector<Tensor> result = grad(sum(y * y), {x, layers.first, layers.second});
    EXPECT_EQ(result[0].device(), kFirst);
    EXPECT_EQ(result[2].device(), other);
    Tensor again = grad(sum(f(x)), x, {.createGraph = true});
    result.push_back(grad(sum(again * again), x));
    result.push_back(jvp([&](const Tensor &v) { return f(v); }, x, ones({2, 2})).second);
    return result;
  };
  std::vector<Tensor> one = run(kFirst, false);
  expectAllSame(run(kFirst, true), one);
  expectAllSame(run(kSecond, false), one);
  expectAllSame(run(kSecond, true), one);
}

TEST(DeviceCallGradient, WithinAnotherFunction) {
  auto run = [](const Device &other) {
    Layers layers(other);
    Tensor first = layers.first.value().detach(), second = layers.second.value().detach();
    auto f = compile([&](Tensor x) {
      Tensor h = tanh(matmul(x, first)), there = h.to(other, true);
      return sigmoid(matmul(there, second)) + x.to(other, true);
    });
    Tensor x = Tensor({{0.3f, -0.7f}, {0.2f, 1.1f}}).requireGrad();
    Tensor y = f(x); // outside
    auto g = compile([&](Tensor scale) { return grad(sum(y * y) * scale, x); });
    return g(Tensor(0.5f));
  };
  expectAllSame({run(kSecond)}, {run(kFirst)});
}

TEST(DeviceGradient, OfAScalarOfAnotherDevice) {
  Tensor x = Tensor({{0.3f, -0.7f}, {0.2f, 1.1f}}).requireGrad(), scale = sum(ones({3}));
  Tensor y = x.to(kSecond), loss = sum(y * y) * scale, g = grad(loss, x);
  EXPECT_EQ(g.device(), kFirst);
  expectAllSame({g}, {grad(sum(x * x) * scale, x)});
}
