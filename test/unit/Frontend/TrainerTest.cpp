// The trainer against the loop that is written by hand: the same losses, bit for bit, compiled or not, with a stop in
// between or without; and what it writes.
#include "lib/Data/File.h"
#include "lib/TrainLoop/Metrics.h"
#include "sprig/function.h"
#include "sprig/grad.h"
#include "sprig/nn.h"
#include "sprig/ops.h"
#include "sprig/trainer.h"
#include "test/unit/Folder.h"
#include "test/unit/Frontend/Points.h"
#include <cmath>
#include <cstdlib>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace sprig;
namespace fs = std::filesystem;

namespace {

constexpr int64_t kTrainedFeatures = 32, kTrainedClasses = 10;

struct TrainedNet : nn::Module {
  nn::Linear a = add("a", nn::Linear(kTrainedFeatures, 64)), b = add("b", nn::Linear(64, 32)),
             c = add("c", nn::Linear(32, 10));
  nn::Dropout drop = add("drop", nn::Dropout(0.2));
  bool drops = false;
  Tensor operator()(const Tensor &x) const {
    Tensor h = relu(a(x));
    if (drops) h = drop(h);
    return c(relu(b(h)));
  }
  Tensor trainingStep(const Tensor &x, const Tensor &y) const { return crossEntropy((*this)(x), y); }
  optim::Optimizer configureOptimizers() const { return optim::adam(*this, {.lr = 1e-3}); }
};

TrainedNet makeTrainedNet(bool drops = false) {
  manualSeed(5);
  TrainedNet net;
  net.drops = drops;
  return net;
}

data::Dataset trainedPoints(int64_t count) { return pointsOf(count, kTrainedFeatures, kTrainedClasses, 0.3); }

data::LoaderOptions shuffled(int64_t batch = 32) {
  data::LoaderOptions options;
  options.batch = batch;
  options.shuffle = 3;
  options.workers = 1;
  return options;
}

TrainerOptions quiet(int64_t epochs) {
  TrainerOptions options;
  options.maxEpochs = epochs;
  options.print = false;
  return options;
}

std::vector<float> byHand(TrainedNet net, data::Loader loader, int epochs, bool compiled) {
  auto opt = net.configureOptimizers();
  auto step = compile(
      [&](const Tensor &x, const Tensor &y) {
        Tensor loss = crossEntropy(net(x), y);
        opt.update(grad(loss, net.parameters()));
        return loss;
      },
      {.report = [](const std::string &) {}});
  step.enable(compiled);
  std::vector<float> losses;
  for (int epoch = 0; epoch < epochs; ++epoch)
    for (auto [x, y] : loader) losses.push_back(step(x, y).item<float>());
  return losses;
}

} // namespace

TEST(Trainer, LossesAreThoseOfTheHandWrittenLoop) {
  data::Dataset set = trainedPoints(1000);
  std::vector<float> compiled = byHand(makeTrainedNet(), data::Loader(set, shuffled()), 5, true);
  ASSERT_EQ(compiled.size(), 5u * 32);
  EXPECT_LT(compiled.back(), 0.5f * compiled.front());
  data::Loader loader(set, shuffled());
  FitResult result = Trainer(quiet(5)).fit(makeTrainedNet(), loader);
  EXPECT_EQ(result.losses, compiled);
  EXPECT_EQ(result.steps, 5 * 32);
  ASSERT_EQ(result.epochs.size(), 5u);
  EXPECT_LT(result.epochs.back().loss, result.epochs.front().loss);
}

TEST(Trainer, CompilingChangesNoBit) {
  data::Dataset set = trainedPoints(200);
  TrainerOptions options = quiet(2);
  data::Loader first(set, shuffled()), second(set, shuffled());
  std::vector<float> compiled = Trainer(options).fit(makeTrainedNet(), first).losses;
  options.compile = false;
  EXPECT_EQ(Trainer(options).fit(makeTrainedNet(), second).losses, compiled);
  EXPECT_EQ(byHand(makeTrainedNet(), data::Loader(set, shuffled()), 2, false), compiled);
}

TEST(Trainer, DropoutTrainsAndEvaluationDoesWithout) {
  data::Dataset set = trainedPoints(500);
  TrainerOptions options = quiet(5);
  options.seed = 9;
  std::vector<int64_t> logged;
  options.onStep = [&](const StepReport &report) {
    logged.push_back(report.step);
    EXPECT_GT(report.gradNorm, 0);
    EXPECT_EQ(report.lr, 1e-3);
  };
  data::Loader train(set, shuffled(64)), test(trainedPoints(100), data::LoaderOptions{.batch = 40, .workers = 0});
  TrainedNet net = makeTrainedNet(/*drops=*/true);
  FitResult result = Trainer(options).fit(net, train, test);
  EXPECT_EQ(logged.size(), 8u); // 40 steps, each 5th
  EXPECT_EQ(logged[3], 15);
  ASSERT_TRUE(result.epochs.back().accuracy);
  EXPECT_GT(*result.epochs.back().accuracy, 0.3); // of 0.1 by chance
  EXPECT_LT(result.epochs.back().loss, 0.9 * result.epochs.front().loss);
  EXPECT_TRUE(net.isTraining());
  // Twice the same: nothing is dropped.
  auto once = Trainer(options).evaluate(net, test), twice = Trainer(options).evaluate(net, test);
  EXPECT_EQ(once, twice);
  EXPECT_EQ(once.first, *result.epochs.back().evalLoss);
  EXPECT_EQ(once.second, result.epochs.back().accuracy);
}

// A loss that leaves a class out is a mean over the samples of the others, in all batches together.
TEST(Trainer, EvaluationsAreThoseOfAllSamples) {
  struct Counting : TrainedNet {
    Scores validationStep(const Tensor &x, const Tensor &y) const {
      return {.loss = crossEntropy((*this)(x), y, {.ignoreIndex = 3}),
              .weight = sum(cast(ne(y, Operand(3)), DType::f32))};
    }
  };
  manualSeed(5);
  Counting net;
  auto lossIn = [&](int64_t batch) {
    data::Loader set(trainedPoints(30), data::LoaderOptions{.batch = batch, .workers = 0});
    return Trainer(quiet(1)).evaluate(net, set).first;
  };
  double once = lossIn(30);
  EXPECT_TRUE(std::isfinite(once));
  for (int64_t batch : {1, 4, 7}) EXPECT_NEAR(lossIn(batch), once, 1e-6 * once) << batch;
}

std::string errorOfFit(const TrainerOptions &options, data::Loader &loader) {
  try {
    Trainer(options).fit(makeTrainedNet(), loader);
  } catch (const Error &error) {
    return error.what();
  }
  return "no error";
}

TEST(Trainer, GoesOnFromACheckpointWithTheSameBits) {
  Folder folder;
  data::Dataset set = trainedPoints(300);
  TrainerOptions options = quiet(4);
  options.seed = 2;
  data::Loader whole(set, shuffled());
  std::vector<float> expected = Trainer(options).fit(makeTrainedNet(true), whole).losses;
  ASSERT_EQ(expected.size(), 40u);

  options.checkpoint = folder.path / "run";
  options.checkpointEvery = 7;
  options.metrics = folder.path / "metrics.jsonl";
  options.onStep = [](const StepReport &report) {
    if (report.step == 25) throw std::runtime_error("pulled the plug");
  };
  data::Loader first(set, shuffled());
  EXPECT_THROW(Trainer(options).fit(makeTrainedNet(true), first), std::runtime_error);

  options.onStep = nullptr;
  options.resume = true;
  data::Loader second(set, shuffled());
  FitResult rest = Trainer(options).fit(makeTrainedNet(true), second);
  ASSERT_EQ(rest.steps, 40);
  ASSERT_EQ(rest.losses.size(), 40u - 21);
  EXPECT_EQ(rest.losses, std::vector<float>(expected.begin() + 21, expected.end()));
  // The file has each step once, from both runs.
  std::istringstream lines(textOf(options.metrics));
  std::string line;
  for (int64_t step = 0; step < 40; ++step) {
    ASSERT_TRUE(std::getline(lines, line));
    auto metrics = training::parseMetrics(line);
    ASSERT_TRUE(metrics);
    EXPECT_EQ(metrics->step, step);
    EXPECT_EQ(metrics->loss, expected[size_t(step)]);
  }
  EXPECT_FALSE(std::getline(lines, line));
}

// Rates fall by what the trainer measures, as PyTorch's rule says; a run that goes on from a checkpoint within an epoch
// or at its end lowers them when it would have without the stop, and has the bits.
TEST(Trainer, LowersRatesWhereTheLossStays) {
  Folder folder;
  data::Dataset set = trainedPoints(300); // ten steps an epoch
  data::Loader test(trainedPoints(50), data::LoaderOptions{.workers = 0});
  TrainerOptions options = quiet(8);
  options.seed = 2;
  options.plateau = {.factor = 0.5, .patience = 0, .threshold = 0.1};
  for (bool evaluates : {false, true})
    for (int64_t every : {0, 7}) {
      options.checkpoint.clear();
      options.checkpointEvery = every;
      options.resume = false;
      data::Loader whole(set, shuffled());
      FitResult expected = Trainer(options).fit(makeTrainedNet(true), whole, evaluates ? &test : nullptr);
      double rate = 1e-3, best = 1e9;
      for (const EpochReport &epoch : expected.epochs) {
        double metric = evaluates ? *epoch.evalLoss : epoch.loss;
        if (metric < best * 0.9)
          best = metric;
        else
          rate *= 0.5;
        EXPECT_EQ(epoch.lr, rate) << "epoch " << epoch.epoch;
      }
      EXPECT_GT(rate, 0.9 * 1e-3 / 64);
      EXPECT_LT(rate, 1e-3 / 3);

      options.checkpoint = folder.path / (std::to_string(every) + (evaluates ? "e" : "t"));
      options.checkpointsKept = 100;
      options.resume = true;
      options.maxEpochs = 5;
      data::Loader first(set, shuffled());
      Trainer(options).fit(makeTrainedNet(true), first, evaluates ? &test : nullptr);
      // Goes on from within the fifth epoch, or from the end of the fourth.
      for (const char *later : every ? std::vector{"step-50", "step-49"} : std::vector{"step-50"})
        fs::remove_all(options.checkpoint / later);
      options.maxEpochs = 8;
      data::Loader second(set, shuffled());
      FitResult rest = Trainer(options).fit(makeTrainedNet(true), second, evaluates ? &test : nullptr);
      size_t from = every ? 42 : 40;
      EXPECT_EQ(rest.losses, std::vector<float>(expected.losses.begin() + std::ptrdiff_t(from), expected.losses.end()));
      for (size_t i = 0; i < rest.epochs.size(); ++i) EXPECT_EQ(rest.epochs[i].lr, expected.epochs[i + 4].lr);

      options.plateau->patience = 1;
      EXPECT_NE(errorOfFit(options, second).find("plateau.patience is 0 there, 1 here"), std::string::npos);
      options.plateau->patience = 0;
    }
  options = quiet(2);
  options.plateau = {.highest = true};
  data::Loader loader(set, shuffled());
  EXPECT_NE(errorOfFit(options, loader).find("plateau.highest is of the accuracy of evaluations, and there are none"),
            std::string::npos);
  options.plateau = {.factor = 2};
  EXPECT_NE(errorOfFit(options, loader).find("lr_schedule.factor: found 2.0"), std::string::npos);
}

TEST(Trainer, RefusesAFolderOfAnotherRun) {
  Folder folder;
  TrainerOptions options = quiet(1);
  options.checkpoint = folder.path;
  data::Dataset set = trainedPoints(64);
  data::Loader loader(set, shuffled());
  Trainer(options).fit(makeTrainedNet(), loader);
  auto errorOf = [&](data::Loader loader) {
    try {
      Trainer(options).fit(makeTrainedNet(), loader);
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(errorOf(data::Loader(set, shuffled())).find("holds the checkpoint of step 2 of another run"),
            std::string::npos);
  options.resume = true;
  EXPECT_NE(errorOf(data::Loader(set, shuffled(16))).find("batch is 32 there, 16 here"), std::string::npos);
  EXPECT_EQ(errorOf(data::Loader(set, shuffled())), "");
}

TEST(Trainer, StopsEarlyAndKeepsTheBest) {
  Folder folder;
  data::Dataset set = trainedPoints(200);
  data::Loader train(set, shuffled()), test(trainedPoints(50), data::LoaderOptions{.workers = 0});
  TrainerOptions options = quiet(50);
  TrainedNet net = makeTrainedNet();
  options.onEpochEnd = {saveBest(net, folder.path / "best.safetensors"),
                        earlyStopping({.patience = 2, .minDelta = 0.2})};
  options.metrics = folder.path / "metrics.csv";
  options.plot = folder.path / "run.svg";
  FitResult result = Trainer(options).fit(net, train, test);
  EXPECT_TRUE(result.stopped);
  EXPECT_LT(result.epochs.size(), 50u);
  net.load(folder.path / "best.safetensors");
  auto [loss, accuracy] = Trainer(options).evaluate(net, test);
  double best = 1e9;
  for (const EpochReport &epoch : result.epochs) best = std::min(best, *epoch.evalLoss);
  EXPECT_EQ(loss, best);
  EXPECT_TRUE(textOf(folder.path / "run.svg").starts_with("<svg"));
  std::string csv = textOf(options.metrics);
  EXPECT_TRUE(csv.starts_with("step,loss,grad_norm,lr,seconds,eval_loss,eval_accuracy,wait_seconds\n0,"));
  EXPECT_EQ(size_t(std::count(csv.begin(), csv.end(), '\n')), 1 + result.losses.size());
}

TEST(Trainer, SweepCompilesOnceAndStartsAnewEachTime) {
  Folder folder;
  data::Dataset set = trainedPoints(256);
  data::Loader train(set, shuffled()), test(trainedPoints(50), data::LoaderOptions{.workers = 0});
  TrainerOptions options = quiet(2);
  options.seed = 4;
  options.plot = folder.path / "sweep.svg";
  TrainedNet net = makeTrainedNet();
  const double rates[] = {1e-4, 1e-2, 1e-4};
  std::vector<SweepRun> runs = Trainer(options).sweep(net, rates, train, &test);
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[0].result.losses, runs[2].result.losses);
  EXPECT_EQ(runs[0].result.losses[0], runs[1].result.losses[0]); // before the first update
  EXPECT_NE(runs[0].result.losses.back(), runs[1].result.losses.back());
  EXPECT_LT(runs[1].result.epochs.back().loss, runs[0].result.epochs.back().loss);
  std::string svg = textOf(options.plot);
  EXPECT_NE(svg.find("accuracy"), std::string::npos);
}

TEST(Trainer, RefusesWhatMakesNoSense) {
  auto errorOf = [](auto f) {
    try {
      f();
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_NE(errorOf([] { Trainer({.maxEpochs = -1}); }).find("TrainerTest.cpp:"), std::string::npos);
  EXPECT_NE(errorOf([] { Trainer({.maxEpochs = -1}); }).find("maxEpochs is -1"), std::string::npos);
  data::Loader three(data::Dataset(8, [](int64_t i) { return data::Sample{float(i), float(i), float(i)}; }));
  EXPECT_NE(errorOf([&] { Trainer(quiet(1)).fit(makeTrainedNet(), three); }).find("a batch has 3 fields"),
            std::string::npos);
  data::Loader loader(trainedPoints(8));
  TrainerOptions resume = quiet(1);
  resume.resume = true;
  EXPECT_NE(errorOf([&] { Trainer(resume).fit(makeTrainedNet(), loader); }).find("checkpoint names no folder"),
            std::string::npos);
}
