// Modules: names, trees, mode, state dicts, copies.
#include "sprig/nn.h"
#include "test/unit/Frontend/Expect.h"
#include "sprig/ops.h"
#include "sprig/random.h"
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sstream>

using namespace sprig;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

namespace {

struct Net : nn::Module {
  nn::Linear a = add("a", nn::Linear(4, 3)), b = add("b", nn::Linear(3, 2));
  Tensor operator()(Tensor x) const { return b(relu(a(x))); }
};

struct Block : nn::Module {
  nn::Conv2d conv1 = add("conv1", nn::Conv2d(2, 2, 3, {.padding = 1}));
  nn::BatchNorm2d bn1 = add("bn1", nn::BatchNorm2d(2));
  Tensor operator()(const Operand &x) const { return relu(bn1(conv1(x))) + x.tensor; }
};

struct Deep : nn::Module {
  nn::Sequential block2 = add("resnet_block2", nn::Sequential(Block(), Block()));
  nn::Linear fc = add("fc", nn::Linear(2, 5));
  Parameter scale = addParameter("scale", Tensor({1.f, 2.f}));
  Tensor operator()(Tensor x) const { return fc(mean(block2(x), {2, 3}) * scale); }
};

std::vector<std::string> namesOf(const std::vector<std::pair<std::string, Parameter>> &named) {
  std::vector<std::string> names;
  for (auto &[name, parameter] : named) names.push_back(name);
  return names;
}

std::vector<float> valuesOf(const Parameter &parameter) { return parameter.value().toVector<float>(); }

struct TemporaryFolder {
  std::filesystem::path path =
      std::filesystem::temp_directory_path() / ("sprig-module-test-" + std::to_string(getpid()));
  TemporaryFolder() { std::filesystem::create_directories(path); }
  ~TemporaryFolder() { std::filesystem::remove_all(path); }
};

TEST(Module, namesAndCounts) {
  Deep net;
  EXPECT_THAT(namesOf(net.namedParameters()),
              ElementsAre("scale", "resnet_block2.0.conv1.weight", "resnet_block2.0.conv1.bias",
                          "resnet_block2.0.bn1.weight", "resnet_block2.0.bn1.bias", "resnet_block2.1.conv1.weight",
                          "resnet_block2.1.conv1.bias", "resnet_block2.1.bn1.weight", "resnet_block2.1.bn1.bias",
                          "fc.weight", "fc.bias"));
  EXPECT_THAT(namesOf(net.namedBuffers()),
              ElementsAre("resnet_block2.0.bn1.running_mean", "resnet_block2.0.bn1.running_var",
                          "resnet_block2.0.bn1.num_batches_tracked", "resnet_block2.1.bn1.running_mean",
                          "resnet_block2.1.bn1.running_var", "resnet_block2.1.bn1.num_batches_tracked"));
  EXPECT_EQ(net.numParameters(), 2 + 2 * (36 + 2 + 4) + 15);
  EXPECT_EQ(net.fc.weight.name(), "fc.weight");
  EXPECT_EQ(net.get<nn::Conv2d>("resnet_block2.1.conv1").path(), "resnet_block2.1.conv1");
  EXPECT_EQ(net.find("resnet_block2.2"), nullptr);
  EXPECT_THAT(errorOf([&] { net.get<nn::Linear>("resnet_block2.0"); }), HasSubstr("'resnet_block2.0' is a Block"));
}

TEST(Module, refusesNames) {
  Net net;
  EXPECT_THAT(errorOf([&] { net.add("a", nn::ReLU()); }),
              ::testing::AllOf(HasSubstr("ModuleTest.cpp:"), HasSubstr("'a' of a Net is there already, a Linear")));
  EXPECT_THAT(errorOf([&] { net.add("c.d", nn::ReLU()); }), HasSubstr("has a dot"));
  EXPECT_THAT(errorOf([&] { net.add("", nn::ReLU()); }), HasSubstr("the name is empty"));
  EXPECT_THAT(errorOf([&] { net.addParameter("b", Tensor(1.f)); }), HasSubstr("is there already"));
  EXPECT_THAT(errorOf([&] { net.a.addParameter("weight", Tensor(1.f)); }),
              HasSubstr("is there already, a parameter of 3x4xf32"));
  EXPECT_THAT(errorOf([&] { net.a.add("net", net); }), HasSubstr("below it"));
}

TEST(Module, errorsNameTheLayer) {
  Deep net;
  std::string text = errorOf([&] { net(zeros({1, 3, 4, 4})).wait(); });
  EXPECT_THAT(text, HasSubstr("(layer 'resnet_block2.0.conv1')"));
  EXPECT_THAT(text, HasSubstr("ModuleTest.cpp:"));
  nn::Linear empty;
  EXPECT_THAT(errorOf([&] { empty(zeros({1, 3})); }), HasSubstr("made without sizes"));
}

TEST(Module, prints) {
  std::ostringstream out;
  out << Deep();
  EXPECT_EQ(out.str(), "Deep(\n"
                       "  (resnet_block2): Sequential(\n"
                       "    (0): Block(\n"
                       "      (conv1): Conv2d(2, 2, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))\n"
                       "      (bn1): BatchNorm2d(2, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)\n"
                       "    )\n"
                       "    (1): Block(\n"
                       "      (conv1): Conv2d(2, 2, kernel_size=(3, 3), stride=(1, 1), padding=(1, 1))\n"
                       "      (bn1): BatchNorm2d(2, eps=1e-05, momentum=0.1, affine=True, track_running_stats=True)\n"
                       "    )\n"
                       "  )\n"
                       "  (fc): Linear(in_features=2, out_features=5, bias=True)\n"
                       ")");
}

TEST(Module, copiesShareAndClonesDoNot) {
  Deep net, same = net, other = nn::clone(net);
  EXPECT_TRUE(same.fc.weight.same(net.fc.weight));
  EXPECT_FALSE(other.fc.weight.same(net.fc.weight));
  EXPECT_FALSE(other.scale.same(net.scale));
  EXPECT_EQ(valuesOf(other.fc.weight), valuesOf(net.fc.weight));
  EXPECT_EQ(other.fc.weight.name(), "fc.weight");
  // The clone's members are what its tree has.
  EXPECT_TRUE(other.get<nn::Linear>("fc").weight.same(other.fc.weight));
  EXPECT_FALSE(
      other.get<nn::Conv2d>("resnet_block2.0.conv1").weight.same(net.get<nn::Conv2d>("resnet_block2.0.conv1").weight));
  init::zeros_(net.fc.weight);
  EXPECT_EQ(valuesOf(same.fc.weight), std::vector<float>(10, 0));
  EXPECT_NE(valuesOf(other.fc.weight), std::vector<float>(10, 0));
  net.eval();
  EXPECT_TRUE(other.isTraining());
  EXPECT_FALSE(same.isTraining());
  Tensor x = ones({1, 2, 4, 4});
  net.loadStateDict(other.stateDict());
  other.eval();
  EXPECT_EQ(net(x).toVector<float>(), other(x).toVector<float>());
}

TEST(Module, modes) {
  Deep net;
  EXPECT_TRUE(net.get<nn::BatchNorm2d>("resnet_block2.0.bn1").isTraining());
  net.eval();
  EXPECT_FALSE(net.get<nn::BatchNorm2d>("resnet_block2.0.bn1").isTraining());
  net.freeze();
  for (const Parameter &parameter : net.parameters()) EXPECT_FALSE(parameter.trainable());
  net.fc.requiresGrad();
  EXPECT_TRUE(net.fc.weight.trainable());
  EXPECT_FALSE(net.scale.trainable());
}

TEST(Module, applyReachesLayersAndResetResetsAll) {
  manualSeed(3);
  Deep net;
  nn::StateDict fresh = net.stateDict();
  int convolutions = 0;
  net.apply([&](nn::Module &module) {
    if (auto *conv = module.as<nn::Conv2d>()) {
      ++convolutions;
      init::constant_(conv->weight, 7);
    }
  });
  EXPECT_EQ(convolutions, 2);
  EXPECT_EQ(valuesOf(net.get<nn::Conv2d>("resnet_block2.0.conv1").weight), std::vector<float>(36, 7));
  init::zeros_(net.scale);
  net(ones({2, 2, 4, 4}) * 3).wait(); // moves the running statistics
  auto &norm = net.get<nn::BatchNorm2d>("resnet_block2.0.bn1");
  EXPECT_EQ(norm.numBatchesTracked.value().item<int64_t>(), 1);
  EXPECT_NE(valuesOf(norm.runningVariance), std::vector<float>(2, 1));
  net.resetParameters();
  EXPECT_EQ(norm.numBatchesTracked.value().item<int64_t>(), 0);
  EXPECT_EQ(valuesOf(norm.runningMean), std::vector<float>(2, 0));
  EXPECT_EQ(valuesOf(norm.runningVariance), std::vector<float>(2, 1));
  EXPECT_EQ(valuesOf(net.scale), (std::vector<float>{1, 2}));
  EXPECT_NE(valuesOf(net.fc.weight), fresh[fresh.size() - 2].value.toVector<float>()); // new numbers
  // One seed governs all of it.
  manualSeed(3);
  Deep again;
  nn::StateDict state = again.stateDict();
  ASSERT_EQ(state.size(), fresh.size());
  for (size_t i = 0; i < state.size(); ++i) EXPECT_EQ(state[i].value.text(), fresh[i].value.text()) << state[i].name;
}

TEST(Module, stateDicts) {
  TemporaryFolder folder;
  Deep net;
  net(ones({2, 2, 4, 4})).wait();
  nn::StateDict state = net.stateDict();
  EXPECT_EQ(state.size(), 17u);
  EXPECT_EQ(state[5].name, "resnet_block2.0.bn1.running_mean");
  std::filesystem::path file = folder.path / "net.safetensors";
  net.save(file);
  Deep other;
  other.load(file);
  nn::StateDict loaded = other.stateDict();
  for (size_t i = 0; i < state.size(); ++i) {
    EXPECT_EQ(loaded[i].name, state[i].name);
    EXPECT_EQ(loaded[i].value.text(), state[i].value.text()) << state[i].name;
  }

  std::vector<float> before = valuesOf(other.fc.weight);
  nn::StateDict wrong = {{"fc.weight", zeros({5, 2})}, {"fc.bias", zeros({4})}, {"extra", zeros({3})}};
  std::string text = errorOf([&] { other.loadStateDict(wrong); });
  EXPECT_THAT(text, HasSubstr("fc.bias: the module has 5xf32, the state 4xf32"));
  EXPECT_THAT(text, HasSubstr("missing (15)"));
  EXPECT_THAT(text, HasSubstr("scale: 2xf32"));
  EXPECT_THAT(text, HasSubstr("extra: 3xf32"));
  EXPECT_EQ(valuesOf(other.fc.weight), before); // nothing was changed
  wrong[1].value = ones({5}, DType::f64);
  nn::LoadReport report = other.loadStateDict(wrong, /*strict=*/false);
  EXPECT_EQ(report.missing.size(), 15u);
  EXPECT_THAT(report.unexpected, ElementsAre("extra"));
  EXPECT_EQ(valuesOf(other.fc.weight), std::vector<float>(10, 0));
  EXPECT_EQ(valuesOf(other.fc.bias), std::vector<float>(5, 1)); // f64 became f32
}

TEST(Module, containers) {
  nn::Sequential net(
      nn::Linear(4, 3), nn::ReLU(), relu, [](Tensor x) { return x * 2; }, nn::Sequential(nn::Linear(3, 2)));
  net.add("last", nn::Softmax());
  EXPECT_EQ(net.size(), 6u);
  EXPECT_EQ(net.get<nn::Linear>("4.0").path(), "4.0");
  Tensor y = net(ones({5, 4}));
  EXPECT_EQ(y.shape(), (Shape{5, 2}));
  EXPECT_NEAR(y.sum().item<float>(), 5, 1e-5);

  struct Stack : nn::Module {
    nn::ModuleList<nn::Linear> layers = add("layers", nn::ModuleList<nn::Linear>());
    nn::ModuleDict<nn::Linear> heads = add("heads", nn::ModuleDict<nn::Linear>{{"x", nn::Linear(3, 1)}});
    Stack() {
      for (int i = 0; i < 3; ++i) layers.append(nn::Linear(3, 3));
    }
    Tensor operator()(Tensor x) const {
      for (nn::Linear &layer : layers) x = layer(x);
      return heads["x"](x);
    }
  };
  Stack stack;
  EXPECT_EQ(stack.layers.size(), 3u);
  EXPECT_EQ(stack.numParameters(), 3 * 12 + 4);
  EXPECT_EQ(stack.layers[2].weight.name(), "layers.2.weight");
  EXPECT_TRUE(stack.heads.contains("x"));
  EXPECT_FALSE(stack.heads.contains("y"));
  EXPECT_EQ(stack(ones({1, 3})).shape(), (Shape{1, 1}));
  Stack copy = nn::clone(stack);
  init::zeros_(copy.layers[0].weight);
  EXPECT_NE(valuesOf(stack.layers[0].weight), std::vector<float>(9, 0));
  EXPECT_THAT(errorOf([&] { stack.layers[3]; }), HasSubstr("child 3 is asked for, there are 3"));
}

TEST(Module, sharedParametersAreThereOnce) {
  struct Tied : nn::Module {
    nn::Embedding in = add("in", nn::Embedding(7, 4));
    Parameter out = addParameter("out", in.weight);
  } net;
  EXPECT_EQ(net.numParameters(), 28);
  EXPECT_EQ(net.parameters().size(), 1u);
  EXPECT_EQ(net.stateDict().size(), 2u); // as PyTorch's
}

} // namespace
