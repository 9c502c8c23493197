// How the trainer's ranks share their work: numbers of ranks, shares, batches and norms, and how gradients go together.
#include "lib/Frontend/Trainer/ChooseRanks.h"
#include "sprig/rt/sprig_rt.h"
#include "test/unit/Frontend/TrainerRanks.h"
#include <cmath>
#include <gmock/gmock.h>
#include <limits>

using namespace sprig;
using testing::HasSubstr;

namespace {
struct SharedNet : nn::Module {
  nn::Linear a = add("a", nn::Linear(kFeatures, 1500)), b = add("b", nn::Linear(1500, kClasses));
  Tensor trainingStep(const Tensor &x, const Tensor &y) const { return crossEntropy(b(tanh(a(x))), y); }
  optim::Optimizer configureOptimizers() const { return optim::sgd(*this, {.lr = 0.1}); }
};

// Two batches of 24 and one of 7.
std::pair<FitResult, nn::StateDict> fitWide(TrainerOptions options) {
  options.print = false;
  options.maxEpochs = 1;
  manualSeed(5);
  SharedNet net;
  data::Loader train(points(55), {.batch = 24, .shuffle = 3, .workers = 0});
  FitResult result = Trainer(options).fit(net, train);
  return {result, net.stateDict()};
}
} // namespace

TEST(TrainerShares, BatchNormsMayBeOfReplicas) {
  TrainerOptions options{.ranks = 2, .batchNorms = NormStatistics::replica, .checkReplicas = 1};
  Trained replica = fit(options, makeNet(false, true), 54), all = fit({.ranks = 2}, makeNet(false, true), 54);
  EXPECT_NE(replica.result.losses, all.result.losses);
  options.compile = false;
  expectSameBits(fit(options, makeNet(false, true), 54), replica);
  options.compile = true;
  options.stepsPerCall = 2;
  expectSameBits(fit(options, makeNet(false, true), 54), replica);
  // One rank has all samples itself.
  expectSameBits(fit({.batchNorms = NormStatistics::replica}, makeNet(false, true), 54),
                 fit({}, makeNet(false, true), 54));
}

// The batch of each rank: steps are those of as many samples together, rates grow by a rule.
TEST(TrainerShares, BatchesAndRatesGrowWithTheRanks) {
  auto run = [](int64_t batch, TrainerOptions options) {
    options.print = false;
    options.maxEpochs = 2;
    Net net = makeNet();
    data::Loader train(points(50), {.batch = batch, .shuffle = 3, .workers = 0});
    Trained trained;
    trained.result = Trainer(options).fit(net, train);
    trained.state = net.stateDict();
    trained.position = train.position();
    return trained;
  };
  Trained grown = run(8, {.ranks = 3, .scaleBatch = true}), given = run(24, {.ranks = 3});
  expectSameBits(grown, given);
  EXPECT_EQ(grown.position, given.position);
  EXPECT_EQ(run(8, {.ranks = 1, .scaleBatch = true}).result.losses, run(8, {}).result.losses);
  for (auto [rule, factor] : {std::pair(RateScaling::linear, 3.0), {RateScaling::sqrt, std::sqrt(3.0)}}) {
    Trained scaled = run(8, {.ranks = 3, .scaleBatch = true, .lrScaling = rule});
    EXPECT_NEAR(scaled.result.epochs[0].lr, 1e-2 * factor, 1e-9);
    EXPECT_NE(scaled.result.losses, grown.result.losses);
  }
}

// By weights each has another part of every batch, some none: the results of one rank.
TEST(TrainerShares, SharesMayBeByWeights) {
  Trained one = fit({.clipNorm = 0.4}, makeNet(true));
  for (const std::vector<int64_t> &shares : {std::vector<int64_t>{1, 3}, {2, 1, 4}, {1, 40, 1}}) {
    TrainerOptions options{.ranks = int(shares.size()), .shares = shares, .clipNorm = 0.4};
    Trained run = fit(options, makeNet(true));
    expectNear(run, one, std::to_string(shares.size()) + " ranks");
    options.compile = false;
    expectSameBits(fit(options, makeNet(true)), run);
  }
  expectNear(fit({.ranks = 2, .shares = {3, 1}}, makeNet(true, true), 55), fit({}, makeNet(true, true), 55), "norms");
  expectSameBits(fit({.ranks = 2, .shares = {2, 2}}, makeNet(true)), fit({.ranks = 2}, makeNet(true)));
  expectNear(fit({.ranks = 2, .shares = {50, 1}}, makeNet(false, true), 55), fit({}, makeNet(false, true), 55),
             "a rank without a sample");
  auto [result, state] = fitWide({.ranks = 2, .factors = FactorPolicy::automatic, .shares = {1, 2}});
  auto [whole, wholeState] = fitWide({});
  for (size_t i = 0; i < whole.losses.size(); ++i) EXPECT_NEAR(result.losses[i], whole.losses[i], 1e-6);
}

// They are gathered where it is asked for: other bits, and results of one rank all the same.
TEST(TrainerShares, FactorsOfGradientsAreGathered) {
  auto values = [](const nn::StateDict &state) { return state[0].value.toVector<float>(); };
  auto [one, oneState] = fitWide({});
  for (int ranks : {2, 3}) {
    auto [result, state] = fitWide({.ranks = ranks, .factors = FactorPolicy::automatic});
    auto [sums, sumsState] = fitWide({.ranks = ranks});
    EXPECT_NE(values(state), values(sumsState)) << ranks;
    for (size_t i = 0; i < one.losses.size(); ++i) EXPECT_NEAR(result.losses[i], one.losses[i], 1e-6) << ranks;
    for (size_t i = 0; i < values(state).size(); ++i) ASSERT_NEAR(values(state)[i], values(oneState)[i], 1e-6) << ranks;
    // Several passes are added up first.
    auto passes = fitWide({.ranks = ranks, .factors = FactorPolicy::automatic, .accumulate = 2});
    EXPECT_EQ(values(passes.second), values(fitWide({.ranks = ranks, .accumulate = 2}).second)) << ranks;
  }
}

// Left to the machine: what it has chosen is said, and gives the bits of as many that were asked for.
TEST(TrainerShares, TheMachineMaySayHowMany) {
  Net net = makeNet();
  data::Loader train(points(50), {.batch = 24, .shuffle = 3, .workers = 1}),
      single(points(49), {.batch = 24, .workers = 0}), whole(points(49), {.batch = 24, .workers = 0, .dropLast = true});
  train.seek(1, 1);
  const data::Loader::Position before = train.position();
  frontend::Training training;
  training.module = &net;
  training.optimizer = net.configureOptimizers();
  training.step = [&](const std::vector<Tensor> &batch) { return Scores{net.trainingStep(batch[0], batch[1])}; };
  const TrainerOptions options{.ranks = 0, .print = false};
  frontend::ChosenRanks chosen = frontend::chooseRanks(training, options, train, Source::here());
  EXPECT_EQ(train.position(), before);
  const int threads = sprig_rt_default_threads();
  if (threads % 2 == 0) {
    EXPECT_THAT(chosen.why, testing::MatchesRegex("a step is expected to take [0-9]+ us on [0-9]+ ranks of [0-9]+ "
                                                  "threads?, [0-9]+ us on one of [0-9]+ threads"));
    EXPECT_THAT(frontend::chooseRanks(training, options, whole, Source::here()).why, HasSubstr(" us on one of "));
  }
  frontend::ChosenRanks one = frontend::chooseRanks(training, options, single, Source::here());
  EXPECT_EQ(one.ranks, 1);
  if (threads > 1) EXPECT_THAT(one.why, HasSubstr(" threads, as a pass may have 1 sample alone"));

  Trained run = fit({.ranks = 0}, makeNet());
  EXPECT_EQ(run.result.ranks, chosen.ranks);
  expectSameBits(run, fit({.ranks = run.result.ranks}, makeNet()));
  dist::spawn(2, [&](dist::Group &group) {
    EXPECT_EQ(fit({.ranks = 0, .group = &group}, makeNet()).result.ranks, 2);
    auto [loss, accuracy] = Trainer({.ranks = 0, .group = &group, .print = false}).evaluate(makeNet(), single);
    EXPECT_GT(loss, 0);
  });
}

// The first rank chooses for all, or it is given: the same bits.
TEST(TrainerShares, BucketsChangeNoBit) {
  for (int64_t together : {1, 2})
    for (int ranks : {2, 3}) {
      auto values = [](const nn::StateDict &state) { return state[0].value.toVector<float>(); };
      auto [chosen, state] = fitWide({.ranks = ranks, .stepsPerCall = together});
      EXPECT_GT(chosen.bucketBytes, 0);
      for (int64_t bytes : {int64_t(1), int64_t(100000), std::numeric_limits<int64_t>::max()}) {
        auto [given, other] = fitWide({.ranks = ranks, .bucketBytes = bytes, .stepsPerCall = together});
        EXPECT_EQ(given.bucketBytes, bytes);
        EXPECT_EQ(given.losses, chosen.losses) << bytes;
        EXPECT_EQ(values(other), values(state)) << bytes;
      }
    }
  EXPECT_EQ(fitWide({}).first.bucketBytes, 0);
}

// Several steps as one program have the bits of single ones: with a smaller batch at the end, in passes, with dropout,
// batch norms and clipping, and with checkpoints between them.
TEST(TrainerShares, StepsOfACallAreThoseOfSingleOnes) {
  for (int ranks : {1, 2, 3}) {
    Trained single = fit({.ranks = ranks, .clipNorm = 0.4}, makeNet(true, true), 103);
    expectSameBits(fit({.ranks = ranks, .stepsPerCall = 2, .clipNorm = 0.4}, makeNet(true, true), 103), single);
    expectSameBits(fit({.ranks = ranks, .stepsPerCall = 4, .clipNorm = 0.4}, makeNet(true, true), 103), single);
    Trained passes = fit({.ranks = ranks, .accumulate = 2}, makeNet(true), 79);
    expectSameBits(fit({.ranks = ranks, .stepsPerCall = 3, .accumulate = 2}, makeNet(true), 79), passes);
  }
  auto [result, state] = fitWide({.ranks = 2, .factors = FactorPolicy::automatic});
  auto [together, stateTogether] = fitWide({.ranks = 2, .factors = FactorPolicy::automatic, .stepsPerCall = 2});
  EXPECT_EQ(together.losses, result.losses);
  EXPECT_EQ(stateTogether[0].value.toVector<float>(), state[0].value.toVector<float>());
  Folder folder;
  std::vector<int64_t> steps;
  TrainerOptions options{.logEvery = 1,
                         .ranks = 2,
                         .stepsPerCall = 2,
                         .checkpoint = folder.path / "run",
                         .checkpointEvery = 3,
                         .onStep = [&](const StepReport &report) { steps.push_back(report.step); }};
  expectSameBits(fit(options, makeNet(true), 103), fit({.ranks = 2}, makeNet(true), 103));
  EXPECT_EQ(steps, (std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_TRUE(fs::exists(folder.path / "run"));
}
