// The trainer on ranks that share each batch, against one rank with all of it.
#include "lib/Data/File.h"
#include "lib/Frontend/Trainer/ChooseRanks.h"
#include "sprig/dist.h"
#include "sprig/nn.h"
#include "sprig/ops.h"
#include "sprig/random.h"
#include "sprig/rt/sprig_rt.h"
#include "sprig/trainer.h"
#include "test/unit/Frontend/Points.h"
#include <cmath>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <limits>
#include <unistd.h>

using namespace sprig;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

constexpr int64_t kFeatures = 12, kClasses = 5;

struct Net : nn::Module {
  nn::Linear a = add("a", nn::Linear(kFeatures, 16)), b = add("b", nn::Linear(16, kClasses));
  nn::BatchNorm1d norm = add("norm", nn::BatchNorm1d(16));
  nn::Dropout drop = add("drop", nn::Dropout(0.2));
  bool drops = false, normalises = false;
  Tensor operator()(const Tensor &x) const {
    Tensor h = a(x);
    if (normalises) h = norm(h);
    h = relu(h);
    return b(drops ? drop(h) : h);
  }
  Tensor trainingStep(const Tensor &x, const Tensor &y) const { return crossEntropy((*this)(x), y); }
  // The gradient of a bias in front of a batch norm is nothing but rounding, which Adam would make steps of.
  optim::Optimizer configureOptimizers() const {
    return normalises ? optim::sgd(*this, {.lr = 0.1, .momentum = 0.9}) : optim::adam(*this, {.lr = 1e-2});
  }
};

Net makeNet(bool drops = false, bool normalises = false) {
  manualSeed(5);
  Net net;
  net.drops = drops;
  net.normalises = normalises;
  return net;
}

data::Dataset points(int64_t count) { return pointsOf(count, kFeatures, kClasses, 0.6); }

struct Trained {
  FitResult result;
  nn::StateDict state;
  data::Loader::Position position;
};

// 2 batches of 24 and one of `count - 48`; an evaluation of 4 batches, the last of 1.
Trained fit(TrainerOptions options, Net net, int64_t count = 50) {
  options.print = false;
  options.maxEpochs = options.maxEpochs == 10 ? 2 : options.maxEpochs;
  data::Loader train(points(count), {.batch = 24, .shuffle = 3, .workers = 1});
  data::Loader test(points(25), {.batch = 8, .workers = 1});
  Trained run;
  run.result = Trainer(options).fit(net, train, test);
  run.state = net.stateDict();
  run.position = train.position();
  return run;
}

void expectNear(const Trained &run, const Trained &one, const std::string &what) {
  ASSERT_EQ(run.result.losses.size(), one.result.losses.size()) << what;
  for (size_t i = 0; i < one.result.losses.size(); ++i)
    EXPECT_NEAR(run.result.losses[i], one.result.losses[i], 1e-6) << what << ", step " << i;
  ASSERT_EQ(run.result.epochs.size(), one.result.epochs.size()) << what;
  for (size_t i = 0; i < one.result.epochs.size(); ++i) {
    EXPECT_NEAR(run.result.epochs[i].loss, one.result.epochs[i].loss, 1e-6) << what;
    EXPECT_NEAR(*run.result.epochs[i].evalLoss, *one.result.epochs[i].evalLoss, 1e-6) << what;
    EXPECT_EQ(*run.result.epochs[i].accuracy, *one.result.epochs[i].accuracy) << what; // counts are whole numbers
  }
  ASSERT_EQ(run.state.size(), one.state.size());
  for (size_t i = 0; i < one.state.size(); ++i) {
    std::vector<double> a = run.state[i].value.to(DType::f64).toVector<double>(),
                        b = one.state[i].value.to(DType::f64).toVector<double>();
    for (size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-6) << what << ", " << one.state[i].name;
  }
  EXPECT_EQ(run.position, one.position) << what;
}

void expectSameBits(const Trained &run, const Trained &other) {
  EXPECT_EQ(run.result.losses, other.result.losses);
  for (size_t i = 0; i < other.state.size(); ++i)
    EXPECT_EQ(run.state[i].value.to(DType::f64).toVector<double>(),
              other.state[i].value.to(DType::f64).toVector<double>());
}

struct Folder {
  fs::path path;
  Folder() {
    std::string name = (fs::temp_directory_path() / "sprig-ranks-XXXXXX").string();
    path = mkdtemp(name.data());
  }
  ~Folder() { fs::remove_all(path); }
};

std::string textOf(const fs::path &path) {
  std::vector<char> bytes = data::readFile(path);
  return {bytes.begin(), bytes.end()};
}

} // namespace

// The last batch has 2 samples: of 3 and 4 ranks some have none.
TEST(TrainerRanks, ResultsAreThoseOfOneRank) {
  for (bool drops : {false, true}) {
    Trained one = fit({.clipNorm = 0.4}, makeNet(drops));
    for (int ranks : {2, 3, 4}) {
      Trained run = fit({.ranks = ranks, .clipNorm = 0.4}, makeNet(drops));
      expectNear(run, one, std::to_string(ranks) + " ranks");
      if (ranks == 3) expectSameBits(fit({.compile = false, .ranks = 3, .clipNorm = 0.4}, makeNet(drops)), run);
    }
  }
}

// Statistics are of all ranks' samples, running ones too.
TEST(TrainerRanks, BatchNormsSeeAllSamples) {
  Trained one = fit({}, makeNet(true, true), 55);
  for (int ranks : {2, 3}) expectNear(fit({.ranks = ranks}, makeNet(true, true), 55), one, std::to_string(ranks));
  try {
    fit({.ranks = 3}, makeNet(false, true), 50);
    ADD_FAILURE() << "a batch of two samples over three ranks";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), HasSubstr("takes the statistics of 2 samples over 3 ranks, of which some have none"));
  }
}

namespace {
/// A layer whose passes change state that no sample decides.
struct BoundedNet : nn::Module {
  nn::Linear a = add("a", nn::Linear(kFeatures, 16)), b = add("b", nn::Linear(16, kClasses));
  Tensor trainingStep(const Tensor &x, const Tensor &y) const { return crossEntropy(b(relu(a(x))), y); }
  optim::Optimizer configureOptimizers() const { return optim::sgd(*this, {.lr = 0.1}); }
};
} // namespace

// Ranks without samples take over what the others' passes have made of a norm's vectors.
TEST(TrainerRanks, BuffersStayAlikeWhereRanksHaveNoSamples) {
  auto run = [](int ranks, bool compiles) {
    nn::StateDict state;
    dist::spawn(ranks, [&](dist::Group &group) {
      manualSeed(5);
      BoundedNet net;
      nn::spectralNorm(net.a);
      data::Loader train(points(50), {.batch = 24, .shuffle = 3, .workers = 0}); // the last batch has 2
      Trainer({.maxEpochs = 2, .compile = compiles, .group = &group, .print = false}).fit(net, train);
      group.checkReplicas(net);
      if (group.rank() == 0) state = net.stateDict();
    });
    return state;
  };
  nn::StateDict one = run(1, true);
  for (int ranks : {2, 3, 4})
    for (bool compiles : {true, false}) {
      nn::StateDict state = run(ranks, compiles);
      ASSERT_EQ(state.size(), one.size());
      for (size_t i = 0; i < one.size(); ++i) {
        std::vector<float> a = state[i].value.toVector<float>(), b = one[i].value.toVector<float>();
        for (size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-6) << ranks << " ranks, " << one[i].name;
      }
    }
}

TEST(TrainerRanks, BatchNormsMayBeOfReplicas) {
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
TEST(TrainerRanks, BatchesAndRatesGrowWithTheRanks) {
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

namespace {
struct WideNet : nn::Module {
  nn::Linear a = add("a", nn::Linear(kFeatures, 1500)), b = add("b", nn::Linear(1500, kClasses));
  Tensor trainingStep(const Tensor &x, const Tensor &y) const { return crossEntropy(b(tanh(a(x))), y); }
  optim::Optimizer configureOptimizers() const { return optim::sgd(*this, {.lr = 0.1}); }
};

// Two batches of 24 and one of 7.
std::pair<FitResult, nn::StateDict> fitWide(TrainerOptions options) {
  options.print = false;
  options.maxEpochs = 1;
  manualSeed(5);
  WideNet net;
  data::Loader train(points(55), {.batch = 24, .shuffle = 3, .workers = 0});
  FitResult result = Trainer(options).fit(net, train);
  return {result, net.stateDict()};
}
} // namespace

// By weights each has another part of every batch, some none: the results of one rank.
TEST(TrainerRanks, SharesMayBeByWeights) {
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
  try {
    fit({.ranks = 2, .shares = {50, 1}}, makeNet(false, true), 55);
    ADD_FAILURE() << "a rank without a sample";
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), HasSubstr("over 2 ranks, of which some have none"));
  }
  auto [result, state] = fitWide({.ranks = 2, .factors = FactorPolicy::automatic, .shares = {1, 2}});
  auto [whole, wholeState] = fitWide({});
  for (size_t i = 0; i < whole.losses.size(); ++i) EXPECT_NEAR(result.losses[i], whole.losses[i], 1e-6);
}

// They are gathered where it is asked for: other bits, and results of one rank all the same.
TEST(TrainerRanks, FactorsOfGradientsAreGathered) {
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
TEST(TrainerRanks, TheMachineMaySayHowMany) {
  Net net = makeNet();
  data::Loader train(points(50), {.batch = 24, .shuffle = 3, .workers = 1}),
      single(points(49), {.batch = 24, .workers = 0}), whole(points(49), {.batch = 24, .workers = 0, .dropLast = true});
  train.seek(1, 1);
  const data::Loader::Position before = train.position();
  frontend::Training training;
  training.module = &net;
  training.optimizer = net.configureOptimizers();
  training.loss = [&](const std::vector<Tensor> &batch) { return net.trainingStep(batch[0], batch[1]); };
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
TEST(TrainerRanks, BucketsChangeNoBit) {
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
TEST(TrainerRanks, StepsOfACallAreThoseOfSingleOnes) {
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

TEST(TrainerRanks, PassesAreReducedTogether) {
  Trained one = fit({}, makeNet());
  for (int ranks : {1, 3}) {
    Trained run = fit({.ranks = ranks, .accumulate = 4}, makeNet());
    expectNear(run, one, std::to_string(ranks) + " ranks, 4 passes");
  }
}

// Ranks that a program has started itself, with loaders of whole batches or of its own shares.
TEST(TrainerRanks, ARankOfAGroupTrainsWithTheOthers) {
  Trained spawned = fit({.ranks = 2}, makeNet(true));
  std::vector<Trained> runs(2);
  std::vector<int> reports(2);
  dist::spawn(2, [&](dist::Group &group) {
    auto rank = size_t(group.rank());
    Net net = makeNet(true);
    data::LoaderOptions options{.batch = 24, .shuffle = 3, .workers = 0};
    if (rank == 1) {
      options.rank = 1;
      options.ranks = 2;
    }
    data::Loader train(points(50), options), test(points(25), {.batch = 8, .workers = 0});
    Trainer trainer({.maxEpochs = 2, .group = &group, .print = false, .onStep = [&, rank](const StepReport &) {
                       ++reports[rank];
                     }});
    runs[rank].result = trainer.fit(net, train, test);
    runs[rank].state = net.stateDict();
    auto [loss, accuracy] = trainer.evaluate(net, test);
    EXPECT_EQ(loss, *runs[rank].result.epochs.back().evalLoss);
    EXPECT_EQ(*accuracy, *runs[rank].result.epochs.back().accuracy);
  });
  expectSameBits(runs[0], spawned);
  expectSameBits(runs[1], spawned);
  EXPECT_EQ(reports, (std::vector<int>{2, 0})); // of steps 0 and 5, by the first rank
}

TEST(TrainerRanks, CheckpointsAreOfAnyNumberOfRanks) {
  const optim::PlateauOptions plateau = {.factor = 0.5, .patience = 0, .threshold = 0.9};
  Trained whole = fit({.maxEpochs = 3, .plateau = plateau}, makeNet(true));
  EXPECT_LT(whole.result.epochs.back().lr, 0.6 * whole.result.epochs.front().lr);
  Folder folder;
  auto options = [&](int ranks, int64_t epochs) {
    return TrainerOptions{.maxEpochs = epochs,
                          .ranks = ranks,
                          .plateau = plateau,
                          .checkpoint = folder.path / "run",
                          .checkpointEvery = 2,
                          .resume = true,
                          .metrics = folder.path / "metrics.csv"};
  };
  size_t steps = 0;
  Trained last;
  for (auto [ranks, epochs] : {std::pair<int, int64_t>{3, 1}, {2, 2}, {1, 3}}) {
    last = fit(options(ranks, epochs), makeNet(true));
    EXPECT_EQ(last.result.losses.size(), 3u) << ranks; // of its own epoch
    for (float loss : last.result.losses) EXPECT_NEAR(loss, whole.result.losses[steps++], 1e-6) << ranks;
  }
  for (size_t i = 0; i < whole.state.size(); ++i) {
    std::vector<double> a = last.state[i].value.to(DType::f64).toVector<double>(),
                        b = whole.state[i].value.to(DType::f64).toVector<double>();
    for (size_t k = 0; k < a.size(); ++k) EXPECT_NEAR(a[k], b[k], 1e-6) << whole.state[i].name;
  }
  std::string lines = textOf(folder.path / "metrics.csv");
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 10) << lines; // a head and 9 steps
}

TEST(TrainerRanks, TheFirstRankSaysWhetherToStop) {
  int64_t calls = 0;
  TrainerOptions options{.maxEpochs = 5, .ranks = 3, .onEpochEnd = {[&](const EpochReport &report) {
                                                       ++calls;
                                                       return report.epoch < 1;
                                                     }}};
  Trained run = fit(options, makeNet());
  EXPECT_TRUE(run.result.stopped);
  EXPECT_EQ(run.result.epochs.size(), 2u);
  EXPECT_EQ(calls, 2);
  // The optimizer is the module's, also afterwards.
  EXPECT_EQ(run.result.optimizer.steps(), 6);
}

// A trainer with ranks in a rank of another group: it has its device, and free ones besides.
TEST(TrainerRanks, RanksWithinARank) {
  Trained two = fit({.ranks = 2}, makeNet());
  std::vector<Trained> runs(2);
  dist::spawn(2, [&](dist::Group &group) { runs[size_t(group.rank())] = fit({.ranks = 2}, makeNet()); });
  for (const Trained &run : runs) expectSameBits(run, two);
}

TEST(TrainerRanks, MistakesAreRefusedByName) {
  auto errorOf = [](const std::function<void()> &f) -> std::string {
    try {
      f();
    } catch (const Error &error) {
      return error.what();
    }
    return "no error";
  };
  EXPECT_THAT(errorOf([] { Trainer({.ranks = -1}); }), HasSubstr("Trainer: ranks is -1"));
  EXPECT_THAT(errorOf([] { Trainer({.accumulate = 0}); }), HasSubstr("accumulate is 0"));
  EXPECT_THAT(errorOf([] { Trainer({.compile = false, .factors = FactorPolicy::automatic}); }),
              HasSubstr("factors are gathered in compiled steps, and compile is false"));
  EXPECT_THAT(errorOf([] { Trainer({.lrScaling = RateScaling::sqrt}); }),
              HasSubstr("lrScaling goes with scaleBatch; without it the batch of all ranks is the loader's"));
  EXPECT_THAT(errorOf([] { Trainer({.ranks = 2, .shares = {1}}); }),
              HasSubstr("the number of shares is 1.000000, expected that of the ranks, 2"));
  EXPECT_THAT(errorOf([] { fit({.ranks = 2, .shares = {1, 0}}, makeNet()); }),
              HasSubstr("data: a rank's weight is 0, expected at least 1"));
  EXPECT_THAT(errorOf([] { Trainer({.checkReplicas = -1}); }), HasSubstr("checkReplicas is -1"));
  EXPECT_THAT(errorOf([] { Trainer({.bucketBytes = -1}); }), HasSubstr("bucketBytes is -1"));
  EXPECT_THAT(errorOf([] { Trainer({.compile = false, .bucketBytes = 1}); }),
              HasSubstr("bucketBytes are of compiled steps, and compile is false"));
  EXPECT_THAT(errorOf([] { Trainer({.stepsPerCall = 0}); }), HasSubstr("stepsPerCall is 0.000000, expected 1 to 256"));
  EXPECT_THAT(errorOf([] { Trainer({.stepsPerCall = 257}); }), HasSubstr("expected 1 to 256"));
  EXPECT_THAT(errorOf([] { Trainer({.compile = false, .stepsPerCall = 2}); }),
              HasSubstr("stepsPerCall is of compiled steps, and compile is false"));
  EXPECT_THAT(errorOf([] { fit({.stepsPerCall = 3}, makeNet()); }),
              HasSubstr("stepsPerCall is 3, and an epoch has 2 whole batches"));
  EXPECT_THAT(errorOf([] { fit({.ranks = 7, .stepsPerCall = 2, .accumulate = 4}, makeNet()); }),
              HasSubstr("stepsPerCall is 2, and a batch of 24 samples leaves ranks without any"));
  EXPECT_THAT(errorOf([] {
                data::Loader third(points(9), {.batch = 3, .rank = 2, .ranks = 3});
                Trainer({.ranks = 2, .print = false}).fit(makeNet(), third);
              }),
              HasSubstr(" of 2, found one of rank 2 of 3"));
  EXPECT_THAT(errorOf([] {
                data::Loader third(points(9), {.batch = 3, .rank = 2, .ranks = 3});
                Trainer({.print = false}).fit(makeNet(), third);
              }),
              HasSubstr("found one of rank 2 of 3"));
  EXPECT_THAT(errorOf([] {
                data::Loader train(points(9), {.batch = 3});
                std::vector<double> rates{0.1};
                Trainer({.ranks = 2}).sweep(makeNet(), rates, train);
              }),
              HasSubstr("sweep: has no ranks"));
  // A step that fails on one rank: its error, with the rank in front.
  EXPECT_THAT(errorOf([] {
                data::Dataset bad(8, [](int64_t i) {
                  if (i == 5) throw std::runtime_error("no such sample");
                  return data::Sample{data::Field(std::vector<float>(kFeatures)), i % kClasses};
                });
                data::Loader train(bad, {.batch = 8, .workers = 0});
                Trainer({.ranks = 2, .print = false}).fit(makeNet(), train);
              }),
              HasSubstr("rank 1: data: sample 5"));
}
