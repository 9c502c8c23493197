// The trainer on ranks that share each batch, against one rank with all of it.
#include "sprig/create.h"
#include "test/unit/Frontend/TrainerRanks.h"
#include "sprig/function.h"
#include <functional>
#include <gmock/gmock.h>

using namespace sprig;
using testing::HasSubstr;

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

// Statistics are of all ranks' samples, running ones too, also where some rank has none.
TEST(TrainerRanks, BatchNormsSeeAllSamples) {
  for (int64_t samples : {55, 50}) {
    Trained one = fit({}, makeNet(true, true), samples);
    for (int ranks : {2, 3})
      expectNear(fit({.ranks = ranks}, makeNet(true, true), samples), one, std::to_string(ranks));
  }
}

namespace {
struct NoisyNet : Net {
  bool whileEvaluating = false;
  Tensor operator()(const Tensor &x) const {
    return b(isTraining() == whileEvaluating ? h(x) : h(x) + randnLike(h(x)));
  }
  Tensor trainingStep(const Tensor &x, const Tensor &y) const { return crossEntropy((*this)(x), y); }
  Tensor h(const Tensor &x) const { return relu(a(x)); }
};
} // namespace

// Numbers that a step or an evaluation draws are those of all samples, of which each rank has its own; of the last
// batch of each some rank has none.
TEST(TrainerRanks, DrawsAreOfAllSamples) {
  for (bool whileEvaluating : {false, true}) {
    auto run = [&](bool compiles, int ranks) {
      manualSeed(5);
      NoisyNet net;
      net.whileEvaluating = whileEvaluating;
      data::Loader train(points(50), {.batch = 24, .workers = 0}), test(points(25), {.batch = 8, .workers = 0});
      std::vector<float> found;
      Trainer trainer({.maxEpochs = 2, .compile = compiles, .ranks = ranks, .print = false});
      FitResult result = trainer.fit(net, train, test);
      found = result.losses;
      for (const EpochReport &epoch : result.epochs) found.push_back(float(epoch.evalLoss.value()));
      return found;
    };
    std::vector<float> one = run(true, 1);
    for (bool compiles : {true, false})
      for (int ranks : {2, 3})
        EXPECT_THAT(run(compiles, ranks), testing::Pointwise(testing::FloatNear(1e-6f), one)) << whileEvaluating;
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

namespace {
/// A loss of its own, which may look from one sample at another.
struct OwnLossNet : nn::Module {
  nn::Linear a = add("a", nn::Linear(kFeatures, 16));
  std::function<Tensor(const Tensor &h)> loss;
  Tensor trainingStep(const Tensor &x, const Tensor &) const { return loss(tanh(a(x))); }
  optim::Optimizer configureOptimizers() const { return optim::sgd(*this, {.lr = 0.1}); }
};

std::vector<float> lossesOf(const std::function<Tensor(const Tensor &)> &loss, TrainerOptions options) {
  manualSeed(5);
  OwnLossNet net;
  net.loss = loss;
  options.maxEpochs = 1;
  options.print = false;
  data::Loader train(points(50), {.batch = 24, .workers = 0});
  return Trainer(options).fit(net, train).losses;
}
} // namespace

// Sizes that a step reads are those of all ranks' samples, and sums are over all of them.
TEST(TrainerRanks, LossesMayBeOfAnyForm) {
  const std::function<Tensor(const Tensor &)> losses[] = {
      [](const Tensor &h) { return mean(square(h)); },
      [](const Tensor &h) { return sum(square(h)) / double(h.size(0)); },
      [](const Tensor &h) { return mean(logsumexp(h, {1})) + 0.1 * mean(exp(mean(h, {0}))); },
      [](const Tensor &h) { return mean(square(dropoutChannels(h.reshape({h.size(0), 4, 2, 2}), 0.3))); },
      [](const Tensor &h) { // a tensor of outside, which is of no samples
        Tensor weights({0.5, 1.0, 2.0, 0.1, 3.0, 1.0, 1.0, 2.0, 0.5, 1.0, 2.0, 0.1, 3.0, 1.0, 1.0, 2.0});
        return crossEntropy(h, argmax(h, 1), {.weight = cast(weights, DType::f32), .ignoreIndex = 3});
      },
      [](const Tensor &h) { return mean(square(embedding(argmax(h, 1), matmul(h.transpose(0, 1), h) / 24))); },
  };
  for (const auto &loss : losses) {
    std::vector<float> one = lossesOf(loss, {});
    for (const TrainerOptions &options :
         {TrainerOptions{.ranks = 3}, TrainerOptions{.compile = false, .ranks = 2, .shares = {3, 1}}})
      EXPECT_THAT(lossesOf(loss, options), testing::Pointwise(testing::FloatNear(1e-6f), one));
  }
}

TEST(TrainerRanks, SamplesAreGatheredWhereThatIsAllowed) {
  auto contrastive = [](const Tensor &h) {
    return crossEntropy(matmul(h, h.transpose(0, 1)) * 0.1, arange(h.size(0)));
  };
  std::vector<float> one = lossesOf(contrastive, {});
  for (bool compiles : {true, false}) {
    EXPECT_THAT(lossesOf(contrastive, {.compile = compiles, .ranks = 2, .allowGather = true}),
                testing::Pointwise(testing::FloatNear(1e-6f), one));
    try {
      lossesOf(contrastive, {.compile = compiles, .ranks = 2});
      ADD_FAILURE() << "samples are gathered that nobody has allowed to";
    } catch (const Error &error) {
      EXPECT_THAT(error.what(), HasSubstr("TrainerRanksTest.cpp:"));
      EXPECT_THAT(error.what(), HasSubstr("of all ranks' samples, which would gather 1536 bytes a step"));
    }
  }
}

namespace {
/// Keeps a number of each sample of the newest batch.
struct BankNet : nn::Module {
  nn::Linear a = add("a", nn::Linear(kFeatures, 16));
  Parameter bank = addBuffer("bank", zeros({24}));
  Tensor trainingStep(const Tensor &x, const Tensor &) const {
    Tensor h = tanh(a(x));
    bank.set(mean(square(h.detach()), {1}));
    return mean(square(h));
  }
  optim::Optimizer configureOptimizers() const { return optim::sgd(*this, {.lr = 0.1}); }
};

std::vector<float> bankOf(TrainerOptions options) {
  manualSeed(5);
  BankNet net;
  options.maxEpochs = 1;
  options.print = false;
  data::Loader train(points(48), {.batch = 24, .workers = 0});
  Trainer(options).fit(net, train);
  return net.bank.value().toVector<float>();
}
} // namespace

// Each rank has the whole of a buffer, and of samples its own.
TEST(TrainerRanks, ABufferOfSamplesIsGatheredWhereThatIsAllowed) {
  std::vector<float> one = bankOf({});
  for (bool compiles : {true, false}) {
    EXPECT_THAT(bankOf({.compile = compiles, .ranks = 3, .allowGather = true}),
                testing::Pointwise(testing::FloatNear(1e-6f), one));
    try {
      bankOf({.compile = compiles, .ranks = 3});
      ADD_FAILURE() << "a buffer is gathered that nobody has allowed to";
    } catch (const Error &error) {
      EXPECT_THAT(error.what(),
                  HasSubstr("bank: 'nn.set_param' needs 24xf32 of all ranks' samples, which would gather"));
    }
  }
}

TEST(TrainerRanks, PassesAreReducedTogether) {
  Trained one = fit({}, makeNet());
  for (int ranks : {1, 3}) {
    Trained run = fit({.ranks = ranks, .accumulate = 4}, makeNet());
    expectNear(run, one, std::to_string(ranks) + " ranks, 4 passes");
  }
  // Passes come first, so that what sees the samples of a pass sees the same ones.
  expectNear(fit({.ranks = 3, .accumulate = 4}, makeNet(true, true), 48),
             fit({.accumulate = 4}, makeNet(true, true), 48), "norms of passes");
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

TEST(TrainerRanks, TheLastLineNamesRanksAndTheirDevices) {
  Net net = makeNet();
  data::Loader train(points(48), {.batch = 24, .workers = 0});
  testing::internal::CaptureStdout();
  FitResult result = Trainer({.maxEpochs = 1, .ranks = 4}).fit(net, train);
  EXPECT_THAT(testing::internal::GetCapturedStdout(),
              HasSubstr("on [rank 0: cpu:0, rank 1: cpu:1, rank 2: cpu:2, rank 3: cpu:3]\n"));
  EXPECT_EQ(result.devices, (std::vector<Device>{"cpu:0", "cpu:1", "cpu:2", "cpu:3"}));
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
              HasSubstr("the number of shares is 1, expected that of the ranks, 2"));
  EXPECT_THAT(errorOf([] { fit({.ranks = 2, .shares = {1, 0}}, makeNet()); }),
              HasSubstr("data: a rank's weight is 0, expected at least 1"));
  EXPECT_THAT(errorOf([] { Trainer({.checkReplicas = -1}); }), HasSubstr("checkReplicas is -1"));
  EXPECT_THAT(errorOf([] { Trainer({.bucketBytes = -1}); }), HasSubstr("bucketBytes is -1"));
  EXPECT_THAT(errorOf([] { Trainer({.compile = false, .bucketBytes = 1}); }),
              HasSubstr("bucketBytes are of compiled steps, and compile is false"));
  EXPECT_THAT(errorOf([] { Trainer({.stepsPerCall = 0}); }), HasSubstr("stepsPerCall is 0, expected 1 to 256"));
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
                dist::spawn(2, [](dist::Group &group) {
                  data::Loader own(points(9), {.batch = 3, .rank = group.rank(), .ranks = 2});
                  Trainer({.group = &group, .accumulate = 2, .print = false}).fit(makeNet(), own);
                });
              }),
              HasSubstr("accumulate is 2, and the loader deals batches to ranks itself"));
  EXPECT_THAT(errorOf([] {
                dist::spawn(2, [](dist::Group &group) {
                  OwnLossNet net;
                  net.loss = [&](const Tensor &h) { return group.allReduce(mean(h)); };
                  data::Loader own(points(9), {.batch = 3});
                  Trainer({.group = &group, .print = false}).fit(net, own);
                });
              }),
              HasSubstr("all_reduce: is in a step that is written for the samples of all ranks"));
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
