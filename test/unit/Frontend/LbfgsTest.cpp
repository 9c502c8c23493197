// L-BFGS beside PyTorch 1.13's torch.optim.LBFGS in double precision, and what a loop does with it.
#include "LayerFixture.h"
#include "test/unit/Frontend/Expect.h"
#include "sprig/checkpoint.h"
#include "sprig/function.h"
#include "sprig/grad.h"
#include "sprig/lbfgs.h"
#include "sprig/nn.h"
#include "sprig/ops.h"
#include "sprig/random.h"
#include <filesystem>
#include <gmock/gmock.h>
#include <unistd.h>

using namespace sprig;
using namespace sprig::test;
using ::testing::HasSubstr;

namespace {

using optim::LineSearchRule;

/// (1 - a)^2 + 100 (b - a^2)^2
Tensor rosenbrock(const Tensor &p) { return square(1. - p[0]) + 100. * square(p[1] - square(p[0])); }
/// Of six numbers: a square with six curvatures, and a fourth power across it.
Tensor bowl(const Tensor &p) {
  Tensor i = arange(0., 6., 1., DType::f64);
  return sum((i + 1.) * square(p - i / 2.)) / 4. + square(square(sum(p) - 1.)) / 16.;
}

/// PyTorch's, behind each step: the loss that it began with, iterations and evaluations so far, the parameter.
struct After {
  double loss;
  int64_t iterations, evaluations;
  std::vector<double> parameter;
};
void check(Tensor (*f)(const Tensor &), const std::vector<double> &start, const optim::LbfgsOptions &options,
           const std::vector<After> &expected) {
  for (bool compiled : {false, true}) {
    Parameter p{Tensor(start)};
    optim::Lbfgs optimizer({p}, options);
    auto loss = compile([&] { return f(p.value()); });
    loss.enable(compiled);
    for (const After &after : expected) {
      EXPECT_NEAR(optimizer.step([&] { return loss(); }), after.loss, 1e-9 * std::fabs(after.loss));
      EXPECT_EQ(optimizer.iterations(), after.iterations);
      EXPECT_EQ(optimizer.evaluations(), after.evaluations);
      std::vector<double> now = p.value().toVector<double>();
      for (size_t i = 0; i < now.size(); ++i) EXPECT_NEAR(now[i], after.parameter[i], 1e-8) << i;
    }
  }
}

TEST(Lbfgs, stepsByTheWolfeConditions) {
  check(rosenbrock, {-1.2, 1}, {.maxIterations = 8, .lineSearch = LineSearchRule::strongWolfe},
        {{24.199999999999996, 8, 10, {-0.88021316496587343, 0.72747720607199784}},
         {3.758911717937623, 15, 20, {-0.046190191712583081, -0.018011566364695052}},
         {1.1350964233422549, 22, 30, {0.68034603128703508, 0.46120580018830387}},
         {0.10245585627376125, 29, 41, {0.97687736748198717, 0.95258324363774727}}});
  check(rosenbrock, {-1.2, 1}, {.maxIterations = 30, .history = 2, .lineSearch = LineSearchRule::strongWolfe},
        {{24.199999999999996, 28, 37, {0.85938181379815159, 0.73712053359655105}},
         {0.019974140862848523, 36, 47, {0.99999899645573764, 0.999997843633606}}});
  check(bowl, {0.5, -1, 2, 0, 1, -0.25}, {.lr = 0.1, .maxIterations = 4, .lineSearch = LineSearchRule::strongWolfe},
        {{16.933837890625,
          2,
          5,
          {-0.11747478249036092, -1.0120978802208203, 0.97914996503365404, 0.45632203818224548, 1.2762112927347589,
           1.7704633381155011}},
         {5.6039233301858582,
          5,
          11,
          {-0.946733668443829, -1.0555440010544597, 0.18757475984498911, 0.73471774077174512, 1.4242653580615792,
           2.3025186788380858}}});
}

TEST(Lbfgs, stepsOfTheRate) {
  check(bowl, {0.5, -1, 2, 0, 1, -0.25}, {.lr = 0.25, .maxIterations = 5, .history = 3},
        {{16.933837890625,
          5,
          5,
          {-0.56445317542571583, -0.98355394108978644, 0.75936828471459661, 0.54174197722690065, 1.3118568783824978,
           1.471213342420953}},
         {4.6693827670034525,
          10,
          10,
          {-1.4865850942932384, -0.69940077019461466, 0.34664670979963136, 0.91726091308375468, 1.550486946659879,
           2.0618917933755867}},
         {2.9821827411517949,
          15,
          15,
          {-1.9122125271269268, -0.54271378785722824, 0.32337817354080051, 0.98329466341154537, 1.5878356162696476,
           2.1460873098128972}},
         {2.8634645636161444,
          20,
          20,
          {-1.988353682678055, -0.50876856840266904, 0.33081116470883681, 0.99668635220514057, 1.5976667210579518,
           2.1628864212737864}}});
}

struct FittedNet : nn::Module {
  nn::Linear a = add("a", nn::Linear(4, 6)), b = add("b", nn::Linear(6, 1));
  Tensor operator()(const Tensor &x) const { return b(tanh(a(x))); }
};

// Of several parameters; a run that goes on from a checkpoint has the bits of one without a stop, compiled or not.
TEST(Lbfgs, goesOnFromACheckpoint) {
  auto folder = std::filesystem::temp_directory_path() / ("sprig-lbfgs-" + std::to_string(getpid()));
  Tensor x = someTensor({20, 4}, 51), y = sin(sum(x, 1, true) * 2.f);
  std::vector<Numbers> ends;
  for (bool compiled : {false, true}) {
    manualSeed(31);
    FittedNet net;
    optim::Lbfgs optimizer(net, {.maxIterations = 6, .history = 5, .lineSearch = LineSearchRule::strongWolfe});
    auto loss = compile([&](const Tensor &x, const Tensor &y) { return mseLoss(net(x), y); });
    loss.enable(compiled);
    auto step = [&] { return optimizer.step([&] { return loss(x, y); }); };
    double first = step();
    saveCheckpoint(folder, {net, optimizer});
    for (int i = 0; i < 3; ++i) step();
    Numbers straight = numbersOf(optimizer.namedState()[1].second);
    double last = step();
    EXPECT_LT(last, first / 20);
    loadCheckpoint(folder, {net, optimizer});
    for (int i = 0; i < 3; ++i) step();
    EXPECT_EQ(numbersOf(optimizer.namedState()[1].second), straight);
    EXPECT_EQ(step(), last);
    ends.push_back(numbersOf(net.a.weight));
    ends.back().push_back(last);
    std::filesystem::remove_all(folder);
  }
  EXPECT_EQ(ends[0], ends[1]);
}

/// The loss throws at its n-th evaluation: in front of, within and behind line searches.
TEST(Lbfgs, aStepThatThrowsChangesNothing) {
  for (LineSearchRule rule : {LineSearchRule::none, LineSearchRule::strongWolfe})
    for (int64_t fails : {1, 2, 3, 7}) {
      SCOPED_TRACE(fails);
      std::vector<double> start = {-1.2, 1};
      Parameter p{Tensor(start)}, alike{Tensor(start)};
      optim::Lbfgs optimizer({p}, {.lr = 0.01, .lineSearch = rule}), other({alike}, {.lr = 0.01, .lineSearch = rule});
      auto loss = [](const Parameter &at) { return [at] { return rosenbrock(at.value()); }; };
      optimizer.step(loss(p));
      other.step(loss(alike));
      int64_t evaluations = 0;
      auto throwing = [&] {
        if (++evaluations == fails) throw std::runtime_error("no more samples");
        return rosenbrock(p.value());
      };
      EXPECT_THROW(optimizer.step(throwing), std::runtime_error);
      nn::StateDict state = optimizer.stateDict(), expected = other.stateDict();
      ASSERT_EQ(state.size(), expected.size());
      for (size_t i = 0; i < state.size(); ++i) expectSameBits(state[i].value, expected[i].value);
      expectSameBits(p.value(), alike.value());
      // As if nothing had been.
      EXPECT_EQ(optimizer.step(loss(p)), other.step(loss(alike)));
      expectSameBits(p.value(), alike.value());
    }
}

TEST(Lbfgs, endsWhereThereIsNothingToDo) {
  Parameter p(Tensor({1.0, 1.0}));
  optim::Lbfgs optimizer({p});
  EXPECT_EQ(optimizer.step([&] { return rosenbrock(p.value()); }), 0); // its minimum
  EXPECT_EQ(optimizer.iterations(), 0);
  EXPECT_EQ(optimizer.evaluations(), 1);
}

TEST(Lbfgs, refusesWhatIsWrong) {
  Parameter p(Tensor({1.0, 1.0})), narrow(Tensor({1.f}));
  EXPECT_THAT(errorOf([&] { optim::Lbfgs({p}, {.lr = 0}); }),
              ::testing::AllOf(HasSubstr("LbfgsTest.cpp:"), HasSubstr("optim::Lbfgs: lr is 0.0, expected")));
  EXPECT_THAT(errorOf([&] { optim::Lbfgs({p}, {.history = 0}); }), HasSubstr("history is 0.0, expected at least 1"));
  EXPECT_THAT(errorOf([&] { optim::Lbfgs({p, narrow}); }), HasSubstr("all have one type"));
  EXPECT_THAT(errorOf([&] { optim::Lbfgs({p, p}); }), HasSubstr("is there twice"));
  EXPECT_THAT(errorOf([&] { optim::Lbfgs({{.parameters = {p}, .lr = 1.0}}); }), HasSubstr("so no groups"));
  EXPECT_THAT(errorOf([&] { optim::Lbfgs(std::vector<Parameter>()); }), HasSubstr("there is no parameter"));
  optim::Lbfgs optimizer({p});
  EXPECT_THAT(errorOf([&] { optimizer.step([] { return Tensor(); }); }), HasSubstr("Lbfgs::step: the loss"));
  EXPECT_THAT(errorOf([&] {
                compile([&](const Tensor &x) {
                  optimizer.step([&] { return rosenbrock(p.value()); });
                  return x;
                })(ones({1}));
              }),
              HasSubstr("Lbfgs::step"));
  EXPECT_THAT(errorOf([&] { optimizer.loadStateDict({}); }), HasSubstr("missing: optimizer/lbfgs/numbers"));
  p.setTrainable(false);
  EXPECT_THAT(errorOf([&] { optimizer.step([&] { return rosenbrock(p.value()); }); }), HasSubstr("is frozen"));
  EXPECT_THAT(errorOf([&] { optim::Optimizer::fromJson({p}, R"({"name": "lbfgs", "lr": 1})"); }),
              HasSubstr("optim::Lbfgs of sprig/lbfgs.h is for loops of programs"));
}

} // namespace
