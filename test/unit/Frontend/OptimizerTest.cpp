// Optimizers, schedules, bounds on gradients and averages, against plain loops in double precision.
#include "LayerFixture.h"
#include "test/unit/Frontend/Expect.h"
#include "sprig/function.h"
#include "sprig/grad.h"
#include "sprig/nn.h"
#include "sprig/ops.h"
#include "sprig/optim.h"
#include "sprig/random.h"
#include "test/unit/Frontend/OptimizedNet.h"
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <gmock/gmock.h>
#include <numbers>
#include <optional>

using namespace sprig;
using namespace sprig::test;
using ::testing::AllOf;
using ::testing::HasSubstr;

namespace {

constexpr int kSteps = 8;

/// Steps with given gradients; `rule(w, g, t)` makes the step t = 1, 2, ... of one element in double precision.
template <typename MakeRule> void checkSteps(const optim::Optimizer &opt, MakeRule makeRule) {
  const Parameter &w = opt.parameters()[0];
  Numbers expected = numbersOf(w);
  using Rule = decltype(makeRule());
  std::vector<Rule> rules;
  for (int i = 0; i < kSize; ++i) rules.push_back(makeRule());
  for (int t = 1; t <= kSteps; ++t) {
    Tensor g = someTensor({kSize}, uint32_t(40 + t));
    opt.update({g});
    Numbers gradient = numbersOf(g);
    for (size_t i = 0; i < kSize; ++i) rules[i](expected[i], gradient[i], t);
    expectNear(w.value(), expected, 1e-5);
  }
  EXPECT_EQ(opt.steps(), kSteps);
}

TEST(Optimizer, sgd) {
  checkSteps(optim::sgd({fresh()}, {.lr = 0.1}), [] { return [](double &w, double g, int) { w -= 0.1 * g; }; });
  checkSteps(optim::sgd({fresh()}, {.lr = 0.1, .momentum = 0.9, .dampening = 0.5, .weightDecay = 0.01}), [] {
    return [v = 0.0](double &w, double g, int t) mutable {
      g += 0.01 * w;
      v = t == 1 ? g : 0.9 * v + 0.5 * g;
      w -= 0.1 * v;
    };
  });
  checkSteps(optim::sgd({fresh()}, {.lr = 0.1, .momentum = 0.9, .nesterov = true}), [] {
    return [v = 0.0](double &w, double g, int) mutable {
      v = 0.9 * v + g;
      w -= 0.1 * (g + 0.9 * v);
    };
  });
}

auto adamRule(double decay, double decoupled) {
  return [=] {
    return [=, m = 0.0, v = 0.0](double &w, double g, int t) mutable {
      w -= 0.01 * decoupled * w;
      g += decay * w;
      m = 0.9 * m + 0.1 * g;
      v = 0.999 * v + 0.001 * g * g;
      w -= 0.01 * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
    };
  };
}

TEST(Optimizer, adamAndAdamW) {
  checkSteps(optim::adam({fresh()}, {.lr = 0.01}), adamRule(0, 0));
  checkSteps(optim::adam({fresh()}, {.lr = 0.01, .weightDecay = 0.1}), adamRule(0.1, 0));
  checkSteps(optim::adamw({fresh()}, {.lr = 0.01}), adamRule(0, 0.01));
}

TEST(Optimizer, nadam) {
  auto rule = [](double decay, double decoupled, double momentumDecay) {
    return [=] {
      return [=, m = 0.0, v = 0.0, product = 1.0](double &w, double g, int t) mutable {
        w -= 0.01 * decoupled * w;
        g += decay * w;
        auto mu = [&](int step) { return 0.9 * (1 - 0.5 * std::pow(0.96, step * momentumDecay)); };
        product *= mu(t);
        m = 0.9 * m + 0.1 * g;
        v = 0.999 * v + 0.001 * g * g;
        double divisor = std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8;
        w -= 0.01 * (1 - mu(t)) / (1 - product) * g / divisor;
        w -= 0.01 * mu(t + 1) / (1 - product * mu(t + 1)) * m / divisor;
      };
    };
  };
  checkSteps(optim::nadam({fresh()}, {.lr = 0.01}), rule(0, 0, 4e-3));
  checkSteps(optim::nadam({fresh()}, {.lr = 0.01, .weightDecay = 0.1, .momentumDecay = 2}), rule(0.1, 0, 2));
  checkSteps(optim::nadam({fresh()}, {.lr = 0.01, .weightDecay = 0.1, .decoupledWeightDecay = true}),
             rule(0, 0.1, 4e-3));
}

TEST(Optimizer, radam) {
  auto rule = [](double beta2, double decay, double decoupled, int rectifiedFrom) {
    return [=] {
      return [=, m = 0.0, v = 0.0](double &w, double g, int t) mutable {
        w -= 0.01 * decoupled * w;
        g += decay * w;
        m = 0.9 * m + 0.1 * g;
        v = beta2 * v + (1 - beta2) * g * g;
        double most = 2 / (1 - beta2) - 1, left = std::pow(beta2, t), rho = most - 2 * t * left / (1 - left),
               factor = 1;
        EXPECT_EQ(rho > 5, t >= rectifiedFrom) << t;
        if (rho > 5)
          factor = std::sqrt((rho - 4) * (rho - 2) * most / ((most - 4) * (most - 2) * rho)) * std::sqrt(1 - left) /
                   (std::sqrt(v) + 1e-8);
        w -= 0.01 * m / (1 - std::pow(0.9, t)) * factor;
      };
    };
  };
  // Both rules in one run; the first alone, as at most 4.7 gradients are known; decays.
  checkSteps(optim::radam({fresh()}, {.lr = 0.01, .betas = {0.9, 0.9}}), rule(0.9, 0, 0, 6));
  checkSteps(optim::radam({fresh()}, {.lr = 0.01}), rule(0.999, 0, 0, 6));
  checkSteps(optim::radam({fresh()}, {.lr = 0.01, .betas = {0.9, 0.65}}), rule(0.65, 0, 0, 100));
  checkSteps(optim::radam({fresh()}, {.lr = 0.01, .weightDecay = 0.1}), rule(0.999, 0.1, 0, 6));
  checkSteps(optim::radam({fresh()}, {.lr = 0.01, .weightDecay = 0.1, .decoupledWeightDecay = true}),
             rule(0.999, 0, 0.1, 6));
}

TEST(Optimizer, theOthers) {
  checkSteps(optim::rmsprop({fresh()}, {.lr = 0.01, .momentum = 0.9}), [] {
    return [v = 0.0, b = 0.0](double &w, double g, int) mutable {
      v = 0.99 * v + 0.01 * g * g;
      b = 0.9 * b + g / (std::sqrt(v) + 1e-8);
      w -= 0.01 * b;
    };
  });
  checkSteps(optim::adagrad({fresh()}, {.lr = 0.1, .lrDecay = 0.5}), [] {
    return [s = 0.0](double &w, double g, int t) mutable {
      s += g * g;
      w -= 0.1 / (1 + (t - 1) * 0.5) * g / (std::sqrt(s) + 1e-10);
    };
  });
  checkSteps(optim::adadelta({fresh()}), [] {
    return [v = 0.0, a = 0.0](double &w, double g, int) mutable {
      v = 0.9 * v + 0.1 * g * g;
      double u = std::sqrt(a + 1e-6) / std::sqrt(v + 1e-6) * g;
      a = 0.9 * a + 0.1 * u * u;
      w -= u;
    };
  });
  checkSteps(optim::lion({fresh()}, {.lr = 0.01, .weightDecay = 0.1}), [] {
    return [m = 0.0](double &w, double g, int) mutable {
      w -= 0.01 * 0.1 * w;
      double direction = 0.9 * m + 0.1 * g;
      w -= 0.01 * (direction > 0 ? 1 : direction < 0 ? -1 : 0);
      m = 0.99 * m + 0.01 * g;
    };
  });
}

TEST(Optimizer, groupsAndRates) {
  Parameter a(ones({2})), b(ones({2}));
  auto opt = optim::sgd({{.parameters = {a}, .lr = 0.5}, {.parameters = {b}, .weightDecay = 1.0}}, {.lr = 0.1});
  std::vector<Tensor> g = {ones({2}), zeros({2})};
  opt.update(g);
  expectNear(a.value(), {0.5, 0.5});
  expectNear(b.value(), {0.9, 0.9});
  opt.setLr(1, 1);
  EXPECT_EQ(opt.lr(0), 0.5);
  EXPECT_EQ(opt.lr(1), 1);
  opt.update(g);
  expectNear(a.value(), {0, 0});
  expectNear(b.value(), {0, 0});
  a.setTrainable(false);
  opt.update(g);
  expectNear(a.value(), {0, 0});
  std::vector<std::string> names;
  for (auto &[name, state] : opt.namedState()) names.push_back(name);
  EXPECT_THAT(names, ::testing::ElementsAre("optimizer/step", "optimizer/lr", "optimizer/lr.1"));
}

TEST(Optimizer, everyShapeAndType) {
  // One rule for a scalar, a cube and doubles: elements that start alike and get the same gradients stay alike.
  Parameter scalar(Tensor(0.5f)), cube(full({2, 3, 4}, 0.5)), doubles(full({2}, 0.5, DType::f64));
  auto opt = optim::adamw({scalar, cube, doubles}, {.lr = 0.1});
  for (int i = 0; i < 3; ++i)
    opt.update({Tensor(0.25f + float(i)), full({2, 3, 4}, 0.25 + i), full({2}, 0.25 + i, DType::f64)});
  float expected = scalar.value().item<float>();
  EXPECT_LT(expected, 0.4f);
  EXPECT_EQ(cube.value().toVector<float>(), std::vector<float>(24, expected));
  EXPECT_NEAR(doubles.value().toVector<double>()[1], expected, 1e-6);
}

TEST(Optimizer, refusesWhatIsWrong) {
  EXPECT_THAT(errorOf([] { optim::adam({fresh()}, {.lr = -1}); }),
              ::testing::AllOf(HasSubstr("OptimizerTest.cpp:"), HasSubstr("optim::adam: optimizer.lr: found -1")));
  EXPECT_THAT(errorOf([] { optim::sgd({fresh()}, {.nesterov = true}); }), HasSubstr("momentum above 0"));
  Parameter w = fresh();
  EXPECT_THAT(errorOf([&] { optim::sgd({w, w}); }), HasSubstr("is there twice"));
  EXPECT_THAT(errorOf([&] { optim::sgd(std::vector<Parameter>()); }), HasSubstr("there is no parameter"));
  auto opt = optim::sgd({w});
  EXPECT_THAT(errorOf([&] { opt.update(std::vector<Tensor>()); }), HasSubstr("0 gradients for 1 parameters"));
  EXPECT_THAT(errorOf([&] { opt.update({zeros({3})}); }), HasSubstr("is 6xf32, its gradient 3xf32"));
  EXPECT_THAT(errorOf([&] { optim::schedule::step(0); }), HasSubstr("lr_schedule.step_size: found 0"));
  EXPECT_THAT(errorOf([&] { opt.setClipNorm(-1); }),
              ::testing::AllOf(HasSubstr("OptimizerTest.cpp:"),
                               HasSubstr("Optimizer::setClipNorm: the bound is -1.0, expected at least 0")));
  EXPECT_THAT(errorOf([&] { opt.setClipValue(std::nan("")); }), HasSubstr("setClipValue: the bound is nan"));
}

TEST(Optimizer, schedules) {
  using std::numbers::pi;
  const double lr = 0.4;
  auto check = [&](const optim::Schedule &schedule, double (*rate)(int)) {
    Parameter w(zeros({1}));
    auto opt = optim::sgd({w}, {.lr = lr});
    opt.setSchedule(schedule);
    double expected = 0;
    for (int t = 0; t < 8; ++t) {
      EXPECT_NEAR(opt.lr(), rate(t), 1e-12) << "step " << t;
      opt.update({ones({1})}); // the device's expression of the step
      expected -= rate(t);
      EXPECT_NEAR(w.value().item<double>(), expected, 1e-5) << "step " << t;
    }
  };
  check(optim::schedule::step(3, 0.5), [](int t) { return 0.4 * std::pow(0.5, t / 3); });
  check(optim::schedule::multiStep({2, 5}), [](int t) { return 0.4 * std::pow(0.1, (t >= 2) + (t >= 5)); });
  check(optim::schedule::exponential(0.9), [](int t) { return 0.4 * std::pow(0.9, t); });
  check(optim::schedule::linear(4, 0.5), [](int t) { return 0.4 * (0.5 + 0.5 * std::min(t, 4) / 4); });
  check(optim::schedule::warmup(4), [](int t) { return 0.4 * std::min(1.0, (t + 1) / 4.0); });
  check(optim::schedule::cosine(6, 0.1), [](int t) { return 0.1 + 0.3 * (1 + std::cos(pi * std::min(t, 6) / 6)) / 2; });
  check(optim::schedule::warmRestarts(3), [](int t) { return 0.4 * (1 + std::cos(pi * (t % 3) / 3)) / 2; });
  check(optim::schedule::warmRestarts(1, 2, 0.1), [](int t) {
    double done = t < 1 ? 0 : t < 3 ? (t - 1) / 2.0 : t < 7 ? (t - 3) / 4.0 : (t - 7) / 8.0;
    return 0.1 + 0.3 * (1 + std::cos(pi * done)) / 2;
  });
  check(optim::schedule::warmupCosine(2, 6),
        [](int t) { return t < 2 ? 0.4 * (t + 1) / 2 : 0.4 * (1 + std::cos(pi * std::min((t - 2) / 4.0, 1.0))) / 2; });
  check(optim::Schedule(), [](int) { return 0.4; });
  check(optim::Schedule::fromJson(optim::schedule::step(3, 0.5).json()),
        [](int t) { return 0.4 * std::pow(0.5, t / 3); });
  check(optim::schedule::list({0.3, 0.2, 0.1}), [](int t) { return t == 0 ? 0.3 : t == 1 ? 0.2 : 0.1; });
  check(optim::schedule::exponential(0.5).perEpoch(3), [](int t) { return 0.4 * std::pow(0.5, t / 3); });
  optim::Schedule cycle = optim::schedule::oneCycle(1, 8, {.pctStart = 0.5, .divFactor = 10, .finalDivFactor = 100});
  EXPECT_NEAR(cycle.at(lr, 0), 0.1, 1e-12);
  EXPECT_NEAR(cycle.at(lr, 3), 1, 1e-12);
  EXPECT_NEAR(cycle.at(lr, 7), 0.001, 1e-12);
}

TEST(Optimizer, bounds) {
  std::vector<Tensor> g = {Tensor({3.f, 0.f}), Tensor({{4.f}})};
  EXPECT_FLOAT_EQ(optim::gradNorm(g).item<float>(), 5);
  std::vector<Tensor> clipped = optim::clipGradNorm(g, 1);
  expectNear(clipped[0], {0.6, 0});
  expectNear(clipped[1], {0.8});
  EXPECT_EQ(numbersOf(optim::clipGradNorm(g, 10)[0]), numbersOf(g[0]));
  expectNear(optim::clipGradValue(g, 3.5)[1], {3.5}, 0);
  Parameter a(zeros({2})), b(zeros({1, 1}));
  auto opt = optim::sgd({a, b}, {.lr = 1});
  opt.setClipNorm(1);
  opt.update(g);
  expectNear(a.value(), {-0.6, 0});
}

// f64 is bounded in f64; squares of half types do not overflow.
TEST(Optimizer, boundsHaveTheGradientsPrecision) {
  for (double size : {1.0, 1e-22, 1e25}) {
    std::vector<Tensor> gs = {Tensor({0.1 * size, -0.7 * size}), Tensor({size / 3})};
    double norm = std::sqrt(0.01 + 0.49 + 1.0 / 9) * size, ratio = std::min(1.0, 0.25 / (norm + 1e-6));
    EXPECT_NEAR(optim::gradNorm(gs).item<double>() / norm, 1, 1e-15);
    std::vector<Tensor> bounded = optim::clipGradNorm(gs, 0.25);
    EXPECT_NEAR(bounded[0].toVector<double>()[1] / (-0.7 * size * ratio), 1, 1e-14);
    Parameter w(zeros({2}, DType::f64)), v(zeros({1}, DType::f64));
    optim::Optimizer opt = optim::sgd({w, v}, {.lr = 1});
    opt.setClipNorm(0.25).update(gs);
    EXPECT_NEAR(v.value().item<double>() / (-size / 3 * ratio), 1, 1e-14);
  }
  Tensor half = full({4}, 300, DType::f16);
  EXPECT_EQ(optim::gradNorm({half}).item<float>(), 600);
  EXPECT_EQ(optim::clipGradNorm({half}, 60)[0].to(DType::f32).toVector<float>()[0], 30);
  EXPECT_EQ(optim::gradNorm({Tensor({3.f, 4.f})}).dtype(), DType::f32);
}

// Half types do not hold every count of a mean.
TEST(Optimizer, meansOfHalfTypesCountInF32) {
  Parameter w(zeros({1}, DType::bf16));
  optim::Average mean = optim::Average::mean({w});
  for (int i = 0; i < 259; ++i) mean.update();
  w.set(full({1}, 260, DType::bf16));
  mean.update(); // the 260th
  EXPECT_EQ(mean.namedState()[0].second.value().to(DType::f32).item<float>(), 1);
}

namespace {
/// What is said on the standard error output meanwhile.
template <typename F> std::string saidBy(F f) {
  ::testing::internal::CaptureStderr();
  f();
  return ::testing::internal::GetCapturedStderr();
}

struct Forgetful : nn::Module {
  nn::Linear a = nn::Linear(8, 3), b = add("b", nn::Linear(3, 2));
  nn::Sequential c = nn::Sequential(nn::Linear(2, 2), nn::Tanh());
  Parameter scale = Parameter(ones({2}));
  Tensor operator()(const Tensor &x) const { return c(b(a(x))) * scale; }
};
} // namespace

TEST(Optimizer, saysWhichLayersNobodyRegistered) {
  Tensor x = someTensor({4, 8}, 3);
  for (int form : {0, 1, 2}) {
    Forgetful net;
    optim::Optimizer opt = optim::sgd(net, {.lr = 0.1});
    auto step = [&] {
      Tensor loss = net(x).sum();
      if (form == 1) {
        loss.backward();
        opt.step();
        opt.zeroGrad();
      } else if (form == 0) {
        opt.update(grad(loss, net.parameters()));
      } else { // each line says it once
        opt.update(grad(loss, net.parameters()));
      }
    };
    auto compiled = compile(step);
    std::string said = saidBy([&] { form == 2 ? compiled() : step(); });
    EXPECT_THAT(said, AllOf(HasSubstr("OptimizerTest.cpp:"),
                            HasSubstr("the loss reaches parameter 'weight' 3x8xf32 (and 1 more) of a Linear made at "),
                            HasSubstr("parameter '0.weight' 2x2xf32 (and 1 more) of a Linear"),
                            HasSubstr("parameter '' 2xf32 made at"), HasSubstr("no module has registered")));
    EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 3) << said;
    EXPECT_EQ(saidBy([&] { form == 2 ? compiled() : step(); }), "");
    EXPECT_THAT(net.text(), AllOf(HasSubstr("not registered: a Linear made at "), HasSubstr("OptimizerTest.cpp:")));
    EXPECT_THAT(saidBy([&] { net.save(std::filesystem::temp_directory_path() / "sprig-forgetful.safetensors"); }),
                HasSubstr("is without a Linear made at"));
  }
}

TEST(Optimizer, saysNothingOfWhatIsTrainedOtherwise) {
  Tensor x = someTensor({4, 8}, 3);
  auto quiet = [&](auto f) { EXPECT_EQ(saidBy(f), ""); };
  quiet([&] { // adversarial networks, and an actor with its critic
    nn::Linear generator(8, 8), critic(8, 1);
    optim::Optimizer g = optim::adam(generator), c = optim::adam(critic);
    c.update(grad(critic(generator(x).detach()).sum(), critic.parameters()));
    g.update(grad(critic(generator(x)).sum(), generator.parameters()));
    critic(generator(x)).sum().backward();
    g.step();
  });
  quiet([&] { // the critic by hand
    nn::Linear generator(8, 8), critic(8, 1);
    optim::Optimizer g = optim::adam(generator);
    std::vector<Tensor> gradients = grad(critic(generator(x).detach()).sum(), critic.parameters());
    critic.weight.set(critic.weight - gradients[0] * 0.01);
    g.update(grad(critic(generator(x)).sum(), generator.parameters()));
  });
  quiet([&] { // adapters beside layers that no optimizer has
    struct Adapted : nn::Module {
      nn::Linear base = add("base", nn::Linear(8, 4));
      Parameter own = addParameter("own", ones({4}));
      Parameter down = addParameter("down", ones({8, 2})), up = addParameter("up", zeros({2, 4}));
      Tensor operator()(const Tensor &x) const { return base(x) * own + matmul(matmul(x, down), up); }
    } net;
    optim::Optimizer opt = optim::adam({net.down, net.up});
    net(x).sum().backward();
    opt.step();
    Adapted copy = nn::clone(net);
    optim::Optimizer other = optim::adam({copy.down, copy.up});
    other.update(grad(copy(x).sum(), other.parameters()));
  });
  quiet([&] { // another loss than the one that is trained by
    nn::Linear head(8, 2), probe(2, 1);
    optim::Optimizer opt = optim::sgd(head, {.lr = 0.1});
    (void)grad(probe(head(x)).sum(), head.parameters());
    opt.update(grad(head(x).sum(), head.parameters()));
  });
  quiet([&] { // frozen, detached, and set by the program
    nn::Linear trunk(8, 4), head(4, 2), target(8, 4);
    Parameter temperature(ones({2}));
    trunk.freeze();
    optim::Optimizer opt = optim::sgd(head, {.lr = 0.1});
    temperature.set(temperature * 0.9);
    opt.update(grad((head(trunk(x) + target(x).detach()) * temperature).sum(), head.parameters()));
  });
}

TEST(Optimizer, backwardAndStep) {
  nn::Linear layer(3, 2), same(3, 2);
  same.loadStateDict(layer.stateDict());
  auto opt = optim::sgd(layer, {.lr = 0.5}), other = optim::sgd(same, {.lr = 0.5});
  Tensor x = someTensor({4, 3}, 50);
  for (int i = 0; i < 3; ++i) {
    opt.zeroGrad();
    mean(square(layer(x))).backward();
    opt.step();
    other.update(grad(mean(square(same(x))), same.parameters()));
  }
  EXPECT_EQ(numbersOf(layer.weight), numbersOf(same.weight));
  EXPECT_EQ(numbersOf(layer.bias), numbersOf(same.bias));
}

TEST(Optimizer, compiledStepsHaveTheSameBits) {
  Net eager, compiled;
  compiled.loadStateDict(eager.stateDict());
  auto make = [](const Net &net) {
    auto opt = optim::adamw(net, {.lr = 0.01});
    opt.setSchedule(optim::schedule::cosine(20)).setClipNorm(0.5);
    return opt;
  };
  auto first = make(eager), second = make(compiled);
  Tensor x = someTensor({7, 5}, 60), y = Tensor({0, 1, 2, 0, 1, 2, 0});
  auto stepOf = [](Net &net, optim::Optimizer &opt) {
    return [&](Tensor x, Tensor y) {
      Tensor loss = crossEntropy(net(x), y);
      opt.update(grad(loss, net.parameters()));
      return loss;
    };
  };
  auto plain = stepOf(eager, first);
  auto step = compile(stepOf(compiled, second));
  float last = 1e30f;
  for (int i = 0; i < 6; ++i) {
    if (i == 3) { // the rate is no constant of the step
      first.setLr(0.02);
      second.setLr(0.02);
    }
    float loss = plain(x, y).item<float>();
    EXPECT_EQ(step(x, y).item<float>(), loss);
    EXPECT_LT(loss, last);
    last = loss;
  }
  EXPECT_EQ(step.recordings().size(), 1u);
  EXPECT_EQ(second.steps(), 6);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(numbersOf(eager.parameters()[i]), numbersOf(compiled.parameters()[i])) << i;
}

Tensor lossOf(const Net &net) { return mean(square(net(someTensor({7, 5}, 61)))); }

TEST(Optimizer, aParameterThatWasReplacedIsNotTrainedInSilence) {
  Net net;
  auto whole = optim::adam(net), listed = optim::sgd(net.parameters(), {.lr = 1}), other = optim::sgd(net.a);
  optim::Average average(net);
  net.replace("b", nn::Linear(net.b.weight.shape()[1], net.b.weight.shape()[0]));
  auto gradients = [&] { return grad(lossOf(net), net.parameters()); };
  Numbers before = numbersOf(net.b.weight);
  for (const optim::Optimizer &each : {whole, listed})
    EXPECT_THAT(errorOf([&] { each.update(gradients()); }),
                ::testing::AllOf(HasSubstr("OptimizerTest.cpp:"), HasSubstr("Optimizer::update"),
                                 HasSubstr("parameter 'b.weight' belongs to its module no more: 'b' was replaced at "),
                                 HasSubstr(". Make a new one")));
  EXPECT_THAT(errorOf([&] { whole.step(); }), HasSubstr("Optimizer::step: parameter 'b.weight' belongs"));
  EXPECT_THAT(errorOf([&] { average.update(); }), HasSubstr("parameter 'b.weight' belongs to its module no more"));
  EXPECT_EQ(numbersOf(net.b.weight), before);
  other.update(grad(lossOf(net), net.a.parameters())); // has none of it
  optim::sgd(net, {.lr = 1}).update(gradients());
  EXPECT_NE(numbersOf(net.b.weight), before);
}

TEST(Optimizer, aParameterThatCameBackIsTrained) {
  Net net;
  auto opt = optim::sgd(net, {.lr = 1});
  nn::Linear old = net.b;
  net.b = nn::Linear(net.b.weight.shape()[1], net.b.weight.shape()[0]);
  EXPECT_NE(errorOf([&] { opt.update(grad(lossOf(net), net.parameters())); }), "no error");
  net.b = old;
  opt.update(grad(lossOf(net), net.parameters()));
  Parameter weight = net.b.weight;
  net.b.weight = Parameter(zeros(weight.shape()));
  EXPECT_THAT(errorOf([&] { opt.update(grad(lossOf(net), net.parameters())); }),
              HasSubstr("parameter 'b.weight' belongs to its module no more: 'b.weight' was replaced"));
  net.b.weight = weight;
  opt.update(grad(lossOf(net), net.parameters()));
}

TEST(Optimizer, aModuleThatGrewIsNotTrainedInPart) {
  Net net;
  auto opt = optim::sgd(net, {.lr = 1});
  net.add("extra", nn::Linear(2, 2));
  EXPECT_THAT(errorOf([&] { opt.update(std::vector<Tensor>(4)); }),
              HasSubstr("the module has the parameter 'extra.weight' since, which would not be trained"));
  net.get<nn::Linear>("extra").freeze();
  opt.update(grad(lossOf(net), opt.parameters()));
}

TEST(Optimizer, replacedLayersWithinCompiledSteps) {
  auto run = [](bool compiled) {
    manualSeed(3);
    Net net;
    std::optional<optim::Optimizer> opt(optim::sgd(net, {.lr = 0.1}));
    auto step = compile([&](const Tensor &x) {
      Tensor loss = mean(square(net(x)));
      opt->update(grad(loss, net.parameters()));
      return loss;
    });
    step.enable(compiled);
    Tensor x = someTensor({7, 5}, 61);
    Numbers losses;
    for (int i = 0; i < 3; ++i) losses.push_back(step(x).item<double>());
    net.b = nn::Linear(net.b.weight.shape()[1], 2);
    EXPECT_THAT(errorOf([&] { step(x); }), HasSubstr("belongs to its module no more"));
    opt = optim::sgd(net, {.lr = 0.1});
    for (int i = 0; i < 3; ++i) losses.push_back(step(x).item<double>());
    for (const Parameter &parameter : net.parameters())
      for (double number : numbersOf(parameter)) losses.push_back(number);
    return losses;
  };
  EXPECT_EQ(run(true), run(false));
}

TEST(Optimizer, fineTuningWithAReplacedHead) {
  // By hand: p = w (b x), loss = (p - y)^2, dw = 2 (p - y) b x, w -= lr dw.
  struct Model : nn::Module {
    nn::Linear body = add("body", nn::Linear(1, 1, {.bias = false})), head = add("head", nn::Linear(1, 4));
    Tensor operator()(const Tensor &x) const { return head(body(x)); }
  };
  for (bool compiled : {false, true}) {
    Model net;
    init::constant_(net.body.weight, 3);
    net.body.freeze();
    net.head = nn::Linear(1, 1, {.bias = false});
    init::constant_(net.head.weight, 0.5);
    auto opt = optim::sgd(net.head.parameters(), {.lr = 0.01});
    auto step = compile([&](const Tensor &x, const Tensor &y) {
      Tensor loss = mean(square(net(x) - y));
      opt.update(grad(loss, net.head.parameters()));
      return loss;
    });
    step.enable(compiled);
    double w = 0.5;
    for (int i = 0; i < 5; ++i) {
      double x = 1 + 0.5 * i, y = 2 - i, p = w * 3 * x;
      EXPECT_NEAR(step(Tensor({{float(x)}}), Tensor({{float(y)}})).item<double>(), (p - y) * (p - y), 1e-4);
      w -= 0.01 * 2 * (p - y) * 3 * x;
      EXPECT_NEAR(net.head.weight.value().item<double>(), w, 1e-5);
    }
    EXPECT_EQ(numbersOf(net.body.weight), Numbers{3});
  }
}

TEST(Optimizer, tiedWeightsGetBothGradients) {
  // By hand: p = e_i . e_j is the head's output j for token i; d(p)/d(e_i) = e_j, d(p)/d(e_j) = e_i.
  struct Model : nn::Module {
    nn::Embedding embedding = add("embedding", nn::Embedding(3, 1));
    nn::Linear head = add("head", nn::Linear(1, 3, {.bias = false}));
    Tensor operator()(const Tensor &tokens) const { return head(embedding(tokens)); }
  };
  std::vector<Numbers> results;
  for (bool compiled : {false, true}) {
    Model net;
    net.head.weight = net.embedding.weight;
    net.embedding.weight.set(Tensor({{1.f}, {2.f}, {3.f}}));
    auto opt = optim::sgd(net, {.lr = 0.1});
    ASSERT_EQ(opt.parameters().size(), 1u);
    auto step = compile([&](const Tensor &tokens) {
      Tensor loss = sum(net(tokens));
      opt.update(grad(loss, net.parameters()));
      return loss;
    });
    step.enable(compiled);
    std::vector<double> e = {1, 2, 3};
    for (int token : {1, 0, 2, 1}) {
      double all = e[0] + e[1] + e[2], its = e[size_t(token)];
      EXPECT_NEAR(step(Tensor({int64_t(token)})).item<double>(), its * all, 1e-4);
      for (double &each : e) each -= 0.1 * its;
      e[size_t(token)] -= 0.1 * all;
    }
    results.push_back(numbersOf(net.head.weight));
    for (size_t i = 0; i < 3; ++i) EXPECT_NEAR(results.back()[i], e[i], 1e-5);
  }
  EXPECT_EQ(results[0], results[1]);
}

} // namespace
