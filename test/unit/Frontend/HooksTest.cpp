// Forward hooks: what they see and change, imperative, compiled and in packages; that each layer that says so runs
// them.
#include "LayerFixture.h"
#include "test/unit/Frontend/Expect.h"
#include "sprig/function.h"
#include "sprig/grad.h"
#include "sprig/nn.h"
#include "sprig/ops.h"
#include "sprig/optim.h"
#include "sprig/random.h"
#include <gmock/gmock.h>

using namespace sprig;
using namespace sprig::test;
using ::testing::HasSubstr;

namespace {

struct HookedNet : nn::Module {
  nn::Linear a = add("a", nn::Linear(4, 6)), b = add("b", nn::Linear(6, 2));
  Tensor operator()(const Tensor &x) const { return hooked(x, b(relu(a(x)))); }
  bool runsHooks() const override { return true; }
};

TEST(Hooks, seeAndChangeWhatALayerGives) {
  manualSeed(3);
  HookedNet net;
  Tensor x = someTensor({3, 4}, 61), plain = net(x);
  std::vector<std::string> calls;
  Tensor seen, given;
  nn::HookHandle first = net.a.registerForwardHook([&](const nn::Module &m, const Tensor &in, const Tensor &out) {
    calls.push_back(m.path() + " " + m.typeName());
    given = in;
    seen = out;
  });
  nn::HookHandle second = net.a.registerForwardHook([&](const nn::Module &, const Tensor &, const Tensor &out) {
    calls.push_back("second");
    return out * 2.f;
  });
  nn::HookHandle third = net.a.registerForwardHook([&](const nn::Module &, const Tensor &, const Tensor &out) {
    expectSameBits(out, seen * 2.f); // what the one before gave
    return out + 1.f;
  });
  nn::HookHandle whole = net.registerForwardHook(
      [&](const nn::Module &m, const Tensor &, const Tensor &) { calls.push_back(m.typeName()); });
  Tensor y = net(x);
  EXPECT_THAT(calls, ::testing::ElementsAre("a Linear", "second", "HookedNet"));
  expectSameBits(given, x);
  expectSameBits(seen, linear(x, net.a.weight, net.a.bias));
  expectSameBits(y, net.b(relu(seen * 2.f + 1.f)));
  // Gradients go through what hooks compute.
  Tensor gradient = grad(sum(y), net.a.bias);
  Tensor h = linear(x, net.a.weight, net.a.bias);
  expectSameBits(gradient, grad(sum(net.b(relu(h * 2.f + 1.f))), net.a.bias));
  second.remove();
  third.remove();
  third.remove();
  calls.clear();
  expectSameBits(net(x), plain);
  EXPECT_THAT(calls, ::testing::ElementsAre("a Linear", "HookedNet"));
  // A copy has the hooks of its own; handles outlive the module.
  HookedNet copy = nn::clone(net);
  first.remove();
  whole.remove();
  calls.clear();
  net(x);
  EXPECT_TRUE(calls.empty());
  copy(x);
  EXPECT_THAT(calls, ::testing::ElementsAre("a Linear", "HookedNet"));
  nn::HookHandle gone;
  {
    nn::Linear layer(2, 2);
    gone = layer.registerForwardHook([](const nn::Module &, const Tensor &, const Tensor &) {});
  }
  gone.remove();
  nn::HookHandle().remove();
}

// They run while a function is recorded, and what they compute is part of it; one that comes or goes is seen.
TEST(Hooks, inCompiledFunctions) {
  manualSeed(3);
  HookedNet net;
  Tensor x = someTensor({3, 4}, 61);
  int calls = 0;
  std::vector<std::string> reasons;
  auto run = compile([&](const Tensor &in) { return net(in); },
                     {.report = [&](const std::string &reason) { reasons.push_back(reason); }});
  Tensor plain = run(x);
  run(x);
  nn::HookHandle hook = net.a.registerForwardHook([&](const nn::Module &, const Tensor &, const Tensor &out) {
    ++calls;
    return out * 3.f;
  });
  Tensor tripled = run(x);
  expectSameBits(tripled, net(x));
  EXPECT_NE(numbersOf(tripled), numbersOf(plain));
  EXPECT_EQ(reasons.size(), 1u);
  run(x);
  int before = calls;
  for (int i = 0; i < 5; ++i) expectSameBits(run(x), tripled);
  EXPECT_EQ(calls, before); // nothing of the host happens in a program
  hook.remove();
  expectSameBits(run(x), plain);
  expectSameBits(run(x), plain);

  // A training step with a hook has the same bits compiled or not.
  std::vector<Numbers> ends;
  for (bool compiled : {false, true}) {
    manualSeed(4);
    nn::Sequential chain(nn::Linear(4, 6), nn::BatchNorm1d(6), nn::ReLU(), nn::Linear(6, 2));
    chain.get<nn::BatchNorm1d>("1").registerForwardHook(
        [](const nn::Module &, const Tensor &in, const Tensor &out) { return out + in * 0.5f; });
    auto optimizer = optim::sgd(chain, {.lr = 0.1});
    auto step = compile([&](const Tensor &in) {
      Tensor loss = mean(square(chain(in)));
      optimizer.update(grad(loss, chain.parameters()));
      return loss;
    });
    step.enable(compiled);
    Numbers &seen = ends.emplace_back();
    for (int i = 0; i < 4; ++i) seen.push_back(step(x).item<double>());
    for (double each : numbersOf(chain.get<nn::Linear>("0").weight)) seen.push_back(each);
  }
  EXPECT_EQ(ends[0], ends[1]);
}

/// That a layer that takes x runs a hook once for each call, and takes over its result.
template <typename L> void runsItsHooks(const L &layer, const Tensor &x) {
  ASSERT_TRUE(layer.runsHooks()) << layer.typeName();
  for (bool training : {true, false}) {
    layer.train(training);
    int calls = 0;
    nn::HookHandle hook = layer.registerForwardHook([&](const nn::Module &m, const Tensor &in, const Tensor &out) {
      ++calls;
      EXPECT_EQ(in.shape(), x.shape());
      EXPECT_EQ(m.typeName(), layer.typeName());
      return zerosLike(out);
    });
    EXPECT_EQ(sum(abs(layer(x))).template item<float>(), 0) << layer.typeName();
    EXPECT_EQ(calls, 1) << layer.typeName();
    hook.remove();
  }
}

TEST(Hooks, ofAllLayers) {
  Tensor flat = someTensor({4, 6}, 62), image = someTensor({2, 4, 6, 6}, 63), indices = Tensor({{1, 2}, {0, 3}});
  runsItsHooks(nn::Linear(6, 2), flat);
  runsItsHooks(nn::Identity(), flat);
  runsItsHooks(nn::Embedding(5, 3), indices);
  runsItsHooks(nn::Embedding(5, 3, {.paddingIndex = 0}), indices);
  runsItsHooks(nn::EmbeddingBag(5, 3), indices);
  runsItsHooks(nn::Flatten(), image);
  runsItsHooks(nn::Unflatten(1, {2, 3}), flat);
  runsItsHooks(nn::Conv2d(4, 2, 3), image);
  runsItsHooks(nn::ConvTranspose2d(4, 2, 3), image);
  runsItsHooks(nn::MaxPool2d(2), image);
  runsItsHooks(nn::AvgPool2d(2), image);
  runsItsHooks(nn::AdaptiveAvgPool2d(2), image);
  runsItsHooks(nn::AdaptiveMaxPool2d(2), image);
  runsItsHooks(nn::BatchNorm2d(4), image);
  runsItsHooks(nn::BatchNorm2d(4, {.trackRunningStats = false}), image);
  runsItsHooks(nn::InstanceNorm2d(4), image);
  runsItsHooks(nn::InstanceNorm2d(4, {.trackRunningStats = true}), image);
  runsItsHooks(nn::LayerNorm(6), flat);
  runsItsHooks(nn::GroupNorm(2, 4), image);
  runsItsHooks(nn::RMSNorm(6), flat);
  runsItsHooks(nn::LocalResponseNorm(2), image);
  runsItsHooks(nn::Dropout(0.5), flat);
  runsItsHooks(nn::Dropout2d(0.5), image);
  runsItsHooks(nn::ZeroPad2d(1), image);
  runsItsHooks(nn::Upsample({.scale = {2}}), image);
  runsItsHooks(nn::PixelShuffle(2), image);
  runsItsHooks(nn::PixelUnshuffle(2), image);
  runsItsHooks(nn::ReLU(), flat);
  runsItsHooks(nn::ELU(), flat);
  runsItsHooks(nn::GELU(), flat);
  runsItsHooks(nn::Softplus(), flat);
  runsItsHooks(nn::Hardtanh(), flat);
  runsItsHooks(nn::Threshold(0.1, 0.2), flat);
  runsItsHooks(nn::PReLU(), flat);
  runsItsHooks(nn::Softmax(), flat);
  runsItsHooks(nn::GLU(), flat);
  runsItsHooks(nn::Sequential(nn::Linear(6, 2), nn::ReLU()), flat);
  runsItsHooks(nn::TransformerEncoderLayer(6, 2), someTensor({3, 2, 6}, 64));
  runsItsHooks(nn::TransformerEncoder(nn::TransformerEncoderLayer(6, 2), 2), someTensor({3, 2, 6}, 64));
  nn::EmbeddingBag bag(5, 3);
  int calls = 0;
  bag.registerForwardHook([&](const nn::Module &, const Tensor &, const Tensor &) { ++calls; });
  bag.byOffsets(Tensor({1, 2}), Tensor({0}));
  bag.byLengths(indices, Tensor({1, 2}));
  EXPECT_EQ(calls, 2);
}

TEST(Hooks, areRefusedWhereNothingRunsThem) {
  struct Plain : nn::Module {
    Tensor operator()(const Tensor &x) const { return x; }
  };
  auto nothing = [](const nn::Module &, const Tensor &, const Tensor &) {};
  EXPECT_THAT(errorOf([&] { Plain().registerForwardHook(nothing); }),
              ::testing::AllOf(HasSubstr("HooksTest.cpp:"), HasSubstr("a Plain runs no hooks")));
  EXPECT_THAT(errorOf([&] { nn::LSTM(2, 3).registerForwardHook(nothing); }), HasSubstr("a LSTM runs no hooks"));
  EXPECT_THAT(errorOf([&] { nn::MultiheadAttention(4, 2).registerForwardHook(nothing); }), HasSubstr("runs no hooks"));
  EXPECT_THAT(errorOf([&] { nn::Linear(2, 2).registerForwardHook(nn::ForwardHook()); }), HasSubstr("is empty"));
  nn::Linear layer(2, 2);
  EXPECT_THAT(
      errorOf([&] { compile([&](const Tensor &x) { return layer.registerForwardHook(nothing), x; })(ones({1})); }),
      HasSubstr("Module::registerForwardHook"));
}

} // namespace
