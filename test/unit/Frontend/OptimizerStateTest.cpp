// What optimizers and averages keep from step to step: counts, states that go on, averages.
#include "LayerFixture.h"
#include "test/unit/Frontend/Expect.h"
#include "sprig/function.h"
#include "sprig/grad.h"
#include "sprig/nn.h"
#include "sprig/ops.h"
#include "sprig/optim.h"
#include <filesystem>
#include <functional>
#include <gmock/gmock.h>
#include <unistd.h>

using namespace sprig;
using namespace sprig::test;
using ::testing::HasSubstr;

namespace {

constexpr int kSize = 6;
Parameter fresh() { return Parameter(someTensor({kSize}, 39)); }

struct Net : nn::Module {
  nn::Linear a = add("a", nn::Linear(5, 8)), b = add("b", nn::Linear(8, 3));
  Tensor operator()(Tensor x) const { return b(relu(a(x))); }
};

// Steps that leave a parameter alone, because it is frozen or has no gradient, do not count for it: after them it is
// updated as by an optimizer that had not seen them.
TEST(OptimizerState, stepsThatLeaveAParameterAloneDoNotCountForIt) {
  auto makers = std::vector<std::function<optim::Optimizer(const optim::Parameters &)>>{
      [](auto &p) { return optim::adam(p, {.lr = 0.01}); },
      [](auto &p) { return optim::adamw(p, {.lr = 0.01}); },
      [](auto &p) { return optim::adagrad(p, {.lr = 0.1, .lrDecay = 0.5}); },
      [](auto &p) { return optim::sgd(p, {.lr = 0.1, .momentum = 0.9, .dampening = 0.5}); },
      [](auto &p) { return optim::rmsprop(p); },
      [](auto &p) { return optim::nadam(p, {.momentumDecay = 0.5}); },
      [](auto &p) { return optim::radam(p, {.betas = {0.9, 0.98}}); },
  };
  for (size_t kind = 0; kind < makers.size(); ++kind)
    for (bool compiled : {false, true})
      for (bool isFrozen : {false, true})
        for (bool isLoaded : {false, true}) {
          Parameter always = fresh(), late = fresh(), alone = fresh();
          optim::Optimizer opt = makers[kind]({always, late}), other = makers[kind]({alone});
          auto one = compile([&](Tensor g) { opt.update({g, Tensor()}); });
          auto both = compile([&](Tensor g) { opt.update({g, g}); });
          one.enable(compiled);
          both.enable(compiled);
          auto gradient = [](int t) { return someTensor({kSize}, uint32_t(40 + t)); };
          if (isFrozen) late.setTrainable(false);
          for (int t = 0; t < 3; ++t) isFrozen ? both(gradient(t)) : one(gradient(t));
          expectSameBits(late.value(), alone.value());
          late.setTrainable(true);
          if (isLoaded) {
            optim::Optimizer again = makers[kind]({always, late});
            again.loadStateDict(opt.stateDict());
            opt = again;
          }
          for (int t = 3; t < 6; ++t) {
            both(gradient(t));
            other.update({gradient(t)});
          }
          expectSameBits(late.value(), alone.value());
          EXPECT_EQ(opt.steps(), 6);
        }
}

// A function that was compiled before the first such step is recorded anew, once.
TEST(OptimizerState, aCompiledStepLearnsOfCountsOfItsOwn) {
  Parameter a = fresh(), b = fresh(), alone = fresh();
  auto opt = optim::adam({a, b}, {.lr = 0.01}), other = optim::adam({alone}, {.lr = 0.01});
  std::vector<std::string> reasons;
  auto step = compile([&](Tensor g) { opt.update({g, g}); },
                      {.report = [&](const std::string &reason) { reasons.push_back(reason); }});
  Tensor g = someTensor({kSize}, 41);
  for (int i = 0; i < 3; ++i) {
    step(g);
    other.update({g});
  }
  for (int i = 0; i < 2; ++i) opt.update({g, Tensor()});
  nn::StateDict before = opt.stateDict();
  EXPECT_EQ(before.back().name, "optimizer/skipped/parameter.1");
  for (int i = 0; i < 3; ++i) {
    step(g);
    other.update({g});
  }
  expectSameBits(b.value(), alone.value());
  EXPECT_THAT(reasons, ::testing::ElementsAre(HasSubstr("1 parameters that steps have left alone")));
  // What is not in a state is 0.
  nn::StateDict without = optim::adam({Parameter(fresh()), Parameter(fresh())}).stateDict();
  opt.loadStateDict(without);
  EXPECT_EQ(opt.stateDict().back().value.item<int>(), 0);
}

TEST(OptimizerState, stateGoesOn) {
  auto train = [](Net &net, optim::Optimizer &opt, int steps) {
    Tensor x = someTensor({7, 5}, 61);
    for (int i = 0; i < steps; ++i) opt.update(grad(mean(square(net(x))), net.parameters()));
  };
  Net net, other;
  auto opt = optim::adam(net), again = optim::adam(other);
  train(net, opt, 3);
  std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("sprig-optimizer-test-" + std::to_string(getpid()) + ".safetensors");
  opt.save(file);
  other.loadStateDict(net.stateDict());
  again.load(file);
  std::filesystem::remove(file);
  train(net, opt, 2);
  train(other, again, 2);
  EXPECT_EQ(numbersOf(net.a.weight), numbersOf(other.a.weight));
  EXPECT_EQ(again.steps(), 5);
  nn::StateDict state = opt.stateDict();
  EXPECT_EQ(state[2].name, "optimizer/exp_avg/a.weight");
  EXPECT_EQ(state[3].name, "optimizer/exp_avg_sq/a.weight");
  state.pop_back();
  EXPECT_THAT(errorOf([&] { again.loadStateDict(state); }), HasSubstr("missing: optimizer/exp_avg_sq/b.bias: 3xf32"));
}

TEST(OptimizerState, averages) {
  Parameter w(Tensor({1.f, 2.f}));
  optim::Average average({w}, 0.75);
  w.set(Tensor({5.f, 2.f}));
  average.update();
  average.swap();
  expectNear(w.value(), {2, 2});
  average.swap();
  expectNear(w.value(), {5, 2});
}

TEST(OptimizerState, meansOfAllUpdates) {
  for (bool compiled : {false, true}) {
    Parameter w(Tensor({9.f, 9.f}));
    optim::Average average = optim::Average::mean({w});
    auto next = compile([&](Tensor x) {
      w.set(x);
      average.update();
    });
    next.enable(compiled);
    Numbers all[] = {{1, 2}, {3, -2}, {5, 6}};
    for (const Numbers &x : all) next(Tensor({float(x[0]), float(x[1])}));
    average.swap();
    expectNear(w.value(), {3, 2});
    average.swap();
    expectNear(w.value(), {5, 6});
    optim::Average again = optim::Average::mean({w});
    again.loadStateDict(average.stateDict());
    w.set(Tensor({-1.f, 2.f}));
    again.update();
    EXPECT_EQ(again.stateDict()[1].name, "average/updates");
    EXPECT_EQ(again.stateDict()[1].value.item<int>(), 4);
    expectNear(again.stateDict()[0].value, {2, 2});
  }
}

TEST(OptimizerState, averagesGoOn) {
  Net net, other;
  optim::Average average(net, 0.75), again(other, 0.75);
  init::constant_(net.a.weight, 3);
  average.update();
  other.loadStateDict(net.stateDict());
  std::filesystem::path file =
      std::filesystem::temp_directory_path() / ("sprig-average-test-" + std::to_string(getpid()) + ".safetensors");
  average.save(file);
  again.load(file);
  std::filesystem::remove(file);
  average.update();
  again.update();
  EXPECT_EQ(average.stateDict()[0].name, "average/a.weight");
  for (size_t i = 0; i < average.stateDict().size(); ++i)
    expectSameBits(average.stateDict()[i].value, again.stateDict()[i].value);
  nn::StateDict state = average.stateDict();
  state.pop_back();
  EXPECT_THAT(errorOf([&] { again.loadStateDict(state); }),
              HasSubstr("optim::Average::loadStateDict: the state does not fit\n  missing: average/b.bias: 3xf32"));
}

} // namespace
