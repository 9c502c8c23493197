// The trainer on ranks that share the optimizer's state: against one rank, and against ranks that have all of it.
#include "lib/Data/Largest.h"
#include "lib/Frontend/Trainer/StatePieces.h"
#include "test/unit/Frontend/TrainerRanks.h"
#include <gmock/gmock.h>

using namespace sprig;
using testing::HasSubstr;

namespace {

/// Of 35 units, so that two ranks fill up the second weight (5 x 35), and three have all of it.
struct WideNet : nn::Module {
  nn::Linear a = add("a", nn::Linear(kFeatures, 35)), b = add("b", nn::Linear(35, kClasses));
  nn::Dropout drop = add("drop", nn::Dropout(0.2));
  std::string optimizer = "adam";
  Tensor operator()(const Tensor &x) const { return b(drop(relu(a(x)))); }
  Tensor trainingStep(const Tensor &x, const Tensor &y) const { return crossEntropy((*this)(x), y); }
  optim::Optimizer configureOptimizers() const {
    return optim::Optimizer::fromJson(*this, R"({"name": ")" + optimizer + R"(", "lr": 0.005})");
  }
};

struct ZeroOutcome {
  std::vector<float> losses;
  nn::StateDict net, optimizer;
};

ZeroOutcome train(TrainerOptions options, const std::string &optimizer = "adam") {
  manualSeed(5);
  WideNet net;
  net.optimizer = optimizer;
  options.print = false;
  if (options.maxEpochs == 10) options.maxEpochs = 2;
  data::Loader train(points(50), {.batch = 24, .shuffle = 3, .workers = 0}); // the last batch has 2
  FitResult result = Trainer(options).fit(net, train);
  return {result.losses, net.stateDict(), result.optimizer.stateDict()};
}

/// The greatest difference of any loss, weight or tensor of the optimizer's.
double distance(const ZeroOutcome &run, const ZeroOutcome &other) {
  EXPECT_EQ(run.losses.size(), other.losses.size());
  double most = 0;
  for (size_t i = 0; i < run.losses.size(); ++i)
    most = data::largest(most, double(std::abs(run.losses[i] - other.losses[i])));
  for (auto [a, b] : {std::pair(&run.net, &other.net), {&run.optimizer, &other.optimizer}}) {
    EXPECT_EQ(a->size(), b->size());
    for (size_t i = 0; i < a->size(); ++i) {
      EXPECT_EQ((*a)[i].name, (*b)[i].name);
      EXPECT_EQ((*a)[i].value.type(), (*b)[i].value.type()) << (*a)[i].name;
      std::vector<double> x = (*a)[i].value.to(DType::f64).toVector<double>(),
                          y = (*b)[i].value.to(DType::f64).toVector<double>();
      for (size_t k = 0; k < x.size(); ++k) most = data::largest(most, std::abs(x[k] - y[k]));
    }
  }
  return most;
}

} // namespace

TEST(TrainerZero, ResultsAreThoseOfWholeState) {
  for (double clip : {0.0, 0.3}) {
    ZeroOutcome one = train({.clipNorm = clip});
    for (int ranks : {2, 3, 4}) {
      ZeroOutcome shared = train({.ranks = ranks, .zero = 1, .clipNorm = clip});
      EXPECT_LT(distance(shared, one), 1e-6) << ranks << ", clip " << clip;
      EXPECT_EQ(distance(train({.compile = false, .ranks = ranks, .zero = 1, .clipNorm = clip}), shared), 0) << ranks;
    }
    // Of two ranks there is one order of sums; a norm's differs.
    if (!clip) EXPECT_EQ(distance(train({.ranks = 2, .zero = 1}), train({.ranks = 2})), 0);
  }
  EXPECT_EQ(distance(train({.ranks = 1, .zero = 1}), train({})), 0);
}

TEST(TrainerZero, EachRankHoldsAPiece) {
  dist::spawn(2, [](dist::Group &group) {
    manualSeed(5);
    WideNet net;
    optim::Optimizer optimizer = net.configureOptimizers();
    auto shapeOf = [&](const std::string &name) {
      for (auto &[own, parameter] : optimizer.namedState())
        if (own == "optimizer/" + name) return parameter.value().shape();
      return Shape{-1};
    };
    frontend::StatePieces pieces(optimizer, &group, Source::here());
    EXPECT_EQ(shapeOf("exp_avg/a.weight"), Shape({35 * kFeatures / 2}));
    EXPECT_EQ(shapeOf("exp_avg/b.weight"), Shape({88}));
    EXPECT_EQ(shapeOf("exp_avg/a.bias"), Shape({35}));
    // Nobody but steps of all ranks can take them for the whole.
    const Parameter momentum = optimizer.namedState()[2].second;
    auto squares = compile([&](const Tensor &x) { return (momentum.value() * momentum.value()).sum() + x; });
    auto messageOf = [](auto call) {
      try {
        call();
      } catch (const Error &error) {
        return std::string(error.what());
      }
      return std::string();
    };
    EXPECT_THAT(messageOf([&] { squares(Tensor(1.0f)); }),
                HasSubstr("'optimizer/exp_avg/a.weight' is in pieces on ranks"));
    EXPECT_THAT(messageOf([&] { momentum.set(zeros(momentum.type().shape, DType::f32)); }),
                HasSubstr("its next value"));
    EXPECT_THAT(messageOf([&] { frontend::StatePieces(optimizer, &group, Source::here()); }),
                HasSubstr("ranks have pieces of the optimizer's state already"));
    pieces.join();
    EXPECT_EQ(squares(Tensor(1.0f)).item<float>(), 1);
    EXPECT_EQ(shapeOf("exp_avg/a.weight"), Shape({35, kFeatures}));
  });
}

TEST(TrainerZero, OfEveryOptimizer) {
  for (const char *optimizer : {"sgd", "adamw", "nadam", "radam", "rmsprop", "adagrad", "adadelta", "lion"})
    EXPECT_EQ(distance(train({.ranks = 2, .zero = 1}, optimizer), train({.ranks = 2}, optimizer)), 0) << optimizer;
}

TEST(TrainerZero, BesidesOtherOptions) {
  ZeroOutcome shared = train({.ranks = 3, .zero = 1});
  EXPECT_EQ(distance(train({.ranks = 3, .stepsPerCall = 2, .zero = 1}), shared), 0);
  EXPECT_EQ(distance(train({.ranks = 3, .bucketBytes = 1, .zero = 1}), shared), 0);
  EXPECT_EQ(distance(train({.ranks = 2, .stepsPerCall = 2, .shares = {3, 1}, .zero = 1}),
                     train({.ranks = 2, .shares = {3, 1}})),
            0);
  EXPECT_EQ(distance(train({.ranks = 2, .zero = 1, .accumulate = 2}), train({.ranks = 2, .accumulate = 2})), 0);
  EXPECT_EQ(distance(train({.ranks = 2, .factors = FactorPolicy::always, .zero = 1}), train({.ranks = 2, .zero = 1})),
            0);
}

// The norm that a step tells is that of all gradients.
TEST(TrainerZero, StepsTellTheNorm) {
  auto normsOf = [](int ranks, int zero) {
    std::vector<double> norms;
    train({.logEvery = 1, .ranks = ranks, .zero = zero, .onStep = [&](const StepReport &step) {
             norms.push_back(step.gradNorm);
           }});
    return norms;
  };
  std::vector<double> one = normsOf(1, 0), shared = normsOf(2, 1);
  ASSERT_EQ(one.size(), 6u);
  ASSERT_EQ(shared.size(), 6u);
  for (size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(shared[i], one[i], 1e-6 * one[i]);
}

TEST(TrainerZero, CheckpointsAreOfAnyNumberOfRanks) {
  ZeroOutcome whole = train({.maxEpochs = 3});
  Folder folder;
  ZeroOutcome last;
  for (auto [ranks, zero, epochs] : {std::tuple{3, 1, 1}, {2, 1, 2}, {1, 0, 3}})
    last = train({.maxEpochs = epochs,
                  .ranks = ranks,
                  .zero = zero,
                  .checkpoint = folder.path / "run",
                  .checkpointEvery = 2,
                  .resume = true});
  last.losses = whole.losses; // those of its own epoch alone
  EXPECT_LT(distance(last, whole), 1e-6);
}

TEST(TrainerZero, MistakesAreRefusedByName) {
  try {
    Trainer({.zero = 2});
    ADD_FAILURE();
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), HasSubstr("zero is 2, expected 0 or 1: ranks share the optimizer's state"));
  }
}
