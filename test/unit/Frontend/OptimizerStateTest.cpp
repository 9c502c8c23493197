// What optimizers and averages keep from step to step: counts, states that go on, averages.
#include "LayerFixture.h"
#include "test/unit/Frontend/Expect.h"
#include "sprig/function.h"
#include "sprig/grad.h"
#include "sprig/nn.h"
#include "sprig/ops.h"
#include "sprig/optim.h"
#include "test/unit/Frontend/OptimizedNet.h"
#include <filesystem>
#include <functional>
#include <gmock/gmock.h>
#include <unistd.h>

using namespace sprig;
using namespace sprig::test;
using ::testing::HasSubstr;

namespace {

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

/// Metrics of epochs, and whether PyTorch 1.13's ReduceLROnPlateau(factor=0.5, patience=1, threshold=0.1, cooldown=1,
/// min_lr=0.15) lowered a rate of 1 behind each.
constexpr struct {
  double metric;
  double rateByLoss, rateByHighest;
} kEpochs[] = {{3, 1, 1},          {2.5, 1, 1},        {2.4, 1, 0.5},      {2.3, 0.5, 0.5},
               {2.2, 0.5, 0.5},    {2, 0.5, 0.25},     {1.9, 0.5, 0.25},   {1.85, 0.5, 0.25},
               {1.84, 0.25, 0.15}, {1.83, 0.25, 0.15}, {1, 0.25, 0.15},    {0.99, 0.25, 0.15},
               {0.98, 0.15, 0.15}, {0.97, 0.15, 0.15}, {0.96, 0.15, 0.15}, {0.95, 0.15, 0.15}};

TEST(OptimizerState, ratesFallWhereAMetricStays) {
  for (bool highest : {false, true}) {
    Parameter w(zeros({1})), v(zeros({1}));
    auto opt = optim::sgd({{.parameters = {w}}, {.parameters = {v}, .lr = 0.01}}, {.lr = 1});
    optim::ReduceOnPlateau plateau(
        opt, {.factor = 0.5, .patience = 1, .threshold = 0.1, .highest = highest, .cooldown = 1, .minLr = 0.15});
    auto step = compile([&](const Tensor &g) { opt.update({g, g}); });
    double expected = 0, before = 1;
    for (auto &[metric, byLoss, byHighest] : kEpochs) {
      double rate = highest ? byHighest : byLoss;
      EXPECT_EQ(plateau.step(metric), rate != before);
      EXPECT_EQ(opt.baseLr(), rate);
      EXPECT_EQ(opt.baseLr(1), 0.01); // less than the least already
      step(ones({1}));
      expected -= rate;
      EXPECT_NEAR(w.value().item<double>(), expected, 1e-6);
      before = rate;
    }
    EXPECT_EQ(step.recordings().size(), 1u);
  }
}

TEST(OptimizerState, aPlateauGoesOnFromItsState) {
  Parameter w(zeros({1})), v(zeros({1}));
  auto opt = optim::sgd({w}, {.lr = 1}), other = optim::sgd({v}, {.lr = 1});
  optim::PlateauOptions options{.factor = 0.5, .patience = 1, .threshold = 0.5, .absoluteThreshold = true};
  optim::ReduceOnPlateau first(opt, options), second(other, options);
  EXPECT_TRUE(std::isinf(first.best()));
  for (double metric : {3.0, 2.6, std::nan("")}) first.step(metric); // all but the first no improvement
  EXPECT_EQ(opt.baseLr(), 0.5);
  first.step(2.6);
  other.loadStateDict(opt.stateDict());
  second.loadStateDict(first.stateDict());
  EXPECT_EQ(second.best(), 3);
  for (optim::ReduceOnPlateau *each : {&first, &second}) EXPECT_TRUE(each->step(2.6));
  EXPECT_EQ(opt.baseLr(), 0.25);
  EXPECT_EQ(other.baseLr(), 0.25);
  EXPECT_THAT(errorOf([&] { second.loadStateDict({}); }), HasSubstr("optimizer/plateau"));
  EXPECT_THAT(errorOf([&] { optim::ReduceOnPlateau(opt, {.factor = 1}); }),
              ::testing::AllOf(HasSubstr("OptimizerStateTest.cpp:"), HasSubstr("optim::ReduceOnPlateau"),
                               HasSubstr("lr_schedule.factor: found 1.0, expected a number above 0 and below 1")));
  EXPECT_THAT(errorOf([&] { compile([&](const Tensor &x) { return first.step(1), x; })(ones({1})); }),
              HasSubstr("ReduceOnPlateau::step"));
  EXPECT_THAT(errorOf([&] { optim::Schedule::fromJson("\"plateau\""); }), HasSubstr("optim::ReduceOnPlateau"));
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
