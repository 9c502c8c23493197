// The rules of the training loop as Trainer's users meet them: ends, resumes, averages, metrics, files.
#include "lib/Data/File.h"
#include "lib/TrainLoop/Metrics.h"
#include "sprig/grad.h"
#include "test/unit/Events/ReadEvents.h"
#include "test/unit/Frontend/TrainerRanks.h"
#include <cmath>
#include <csignal>
#include <gmock/gmock.h>

namespace sprig {
namespace {

using testing::ElementsAre, testing::HasSubstr;

/// 50 samples in batches of 24: epochs of three steps, the last of two samples.
data::Loader pointsLoader() {
  return data::Loader(points(50), data::LoaderOptions{.batch = 24, .shuffle = 3, .workers = 1});
}
data::Loader testLoader() { return data::Loader(points(25), data::LoaderOptions{.batch = 8, .workers = 0}); }

TrainerOptions silent(int64_t epochs) { return {.maxEpochs = epochs, .print = false}; }

std::string failureOf(const std::function<void()> &act, ErrorKind kind) {
  try {
    act();
  } catch (const Error &error) {
    EXPECT_EQ(int(error.kind()), int(kind)) << error.what();
    return error.what();
  }
  return "";
}

bool areSame(const nn::StateDict &a, const nn::StateDict &b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i].name != b[i].name || a[i].value.text() != b[i].value.text()) return false;
  return true;
}

/// Whose loss is not finite in batches where the label of the first sample says so; or whose parameters become so.
struct Failing : Net {
  double lr = 1e-2;
  optim::Optimizer configureOptimizers() const { return optim::sgd(*this, {.lr = lr}); }
};

struct Measured : Net {
  Scores trainingStep(const Tensor &x, const Tensor &y) const {
    Tensor logits = (*this)(x);
    return {.loss = crossEntropy(logits, y), .metrics = {{"size", mean(square(logits))}, {"one", Tensor(1.0f)}}};
  }
};

Measured makeMeasured() {
  manualSeed(5);
  return Measured();
}

} // namespace

TEST(TrainerLoop, ALossThatIsNotFiniteEndsTheRun) {
  struct Diverging : Net {
    int64_t *calls;
    Tensor trainingStep(const Tensor &x, const Tensor &y) const {
      Tensor loss = crossEntropy((*this)(x), y);
      return (*calls)++ == at ? log(mul(loss, -1.0)) : loss;
    }
    int64_t at = 0;
  };
  for (int64_t at : {0, 5, 7}) { // the first, an epoch's last, one within an epoch
    Folder folder;
    manualSeed(5);
    int64_t calls = 0;
    Diverging net;
    net.calls = &calls;
    net.at = at;
    TrainerOptions options = silent(4);
    options.compile = false; // so that steps are called as they are written
    options.checkpoint = folder.path / "run";
    options.checkpointEvery = 1;
    options.metrics = folder.path / "metrics.jsonl";
    data::Loader train = pointsLoader();
    std::string error = failureOf([&] { Trainer(options).fit(net, train); }, ErrorKind::runtime);
    EXPECT_THAT(error, HasSubstr("Trainer: step " + std::to_string(at) + ": the loss is NaN (learning rate 0.01)"));
    EXPECT_THAT(error, HasSubstr(".debugNan = true names the operation"));
    if (at) EXPECT_THAT(error, HasSubstr("the checkpoint of step " + std::to_string(at) + " is from before"));
    EXPECT_THAT(textOf(options.metrics), HasSubstr("\"loss\":\"NaN\""));
    int64_t newest = -1;
    if (fs::exists(options.checkpoint))
      for (auto &entry : fs::directory_iterator(options.checkpoint))
        if (std::string name = entry.path().filename(); name.starts_with("step-"))
          newest = std::max<int64_t>(newest, std::stoll(name.substr(5)));
    EXPECT_EQ(newest, at ? at : -1);
  }
}

TEST(TrainerLoop, NoCheckpointHasParametersThatAreNotFinite) {
  Folder folder;
  manualSeed(5);
  Failing net;
  net.lr = 1e39;
  TrainerOptions options = silent(4);
  options.checkpoint = folder.path;
  options.checkpointEvery = 1;
  data::Loader train = pointsLoader();
  std::string error = failureOf([&] { Trainer(options).fit(net, train); }, ErrorKind::runtime);
  EXPECT_THAT(error, HasSubstr("step 0: 'a.weight' is not finite behind it, so no checkpoint is written"));
  EXPECT_FALSE(fs::exists(folder.path / "step-1"));
}

TEST(TrainerLoop, ASignalEndsTheRunAndItGoesOn) {
  Folder folder;
  data::Loader train = pointsLoader(), test = testLoader();
  Net whole = makeNet(true);
  TrainerOptions options = silent(5);
  options.seed = 4;
  FitResult expected = Trainer(options).fit(whole, train, test);
  options.checkpoint = folder.path;
  options.logEvery = 1;
  options.onStep = [](const StepReport &step) {
    if (step.step == 7) ::raise(SIGTERM);
  };
  data::Loader again = pointsLoader();
  FitResult first = Trainer(options).fit(makeNet(true), again, test);
  EXPECT_EQ(first.signal, SIGTERM);
  EXPECT_FALSE(first.stopped);
  EXPECT_LT(first.steps, expected.steps);
  options.onStep = {};
  options.resume = true;
  data::Loader rest = pointsLoader();
  Net net = makeNet(true);
  FitResult second = Trainer(options).fit(net, rest, test);
  EXPECT_EQ(second.signal, 0);
  std::vector<float> losses = first.losses;
  losses.insert(losses.end(), second.losses.begin(), second.losses.end());
  EXPECT_EQ(losses, expected.losses);
  EXPECT_TRUE(areSame(net.stateDict(), whole.stateDict()));
}

TEST(TrainerLoop, RanksEndBehindTheSameStepByASignal) {
  Folder folder;
  TrainerOptions options = silent(40);
  options.ranks = 3;
  options.checkpoint = folder.path;
  options.logEvery = 1;
  options.onStep = [](const StepReport &step) {
    if (step.step == 10) ::raise(SIGTERM);
  };
  data::Loader train = pointsLoader();
  FitResult result = Trainer(options).fit(makeNet(), train);
  EXPECT_EQ(result.signal, SIGTERM);
  EXPECT_LT(result.steps, 40 * 3);
  EXPECT_TRUE(fs::exists(folder.path / ("step-" + std::to_string(result.steps))));
}

TEST(TrainerLoop, AnEarlyStopIsTheSameBehindAResume) {
  for (bool byCallbacks : {false, true}) {
    Folder folder;
    auto configure = [&](TrainerOptions &options, const Net &net, const char *best) {
      if (byCallbacks) {
        options.onEpochEnd = {saveBest(net, folder.path / best), earlyStopping({.patience = 2, .minDelta = 0.05})};
      } else {
        options.earlyStop = EarlyStoppingOptions{.patience = 2, .minDelta = 0.05};
        options.restoreBest = true;
      }
    };
    data::Loader train = pointsLoader(), test = testLoader();
    Net net = makeNet();
    TrainerOptions options = silent(60);
    configure(options, net, "whole.safetensors");
    FitResult whole = Trainer(options).fit(net, train, test);
    ASSERT_TRUE(whole.stopped);
    const auto epochs = int64_t(whole.epochs.size());
    ASSERT_LT(epochs, 60);
    ASSERT_GT(epochs, 4);
    EXPECT_EQ(whole.bestEpoch.has_value(), !byCallbacks);
    // Interrupted behind every epoch but the last.
    Net last = makeNet();
    FitResult result;
    for (int64_t epoch = 1; epoch <= epochs; ++epoch) {
      last = makeNet();
      TrainerOptions part = silent(epoch == epochs ? 60 : epoch);
      configure(part, last, "parts.safetensors");
      part.checkpoint = folder.path / "run";
      part.resume = true;
      data::Loader again = pointsLoader();
      result = Trainer(part).fit(last, again, test);
    }
    EXPECT_TRUE(result.stopped);
    EXPECT_EQ(result.steps, whole.steps);
    EXPECT_EQ(result.bestEpoch, whole.bestEpoch);
    EXPECT_TRUE(areSame(last.stateDict(), net.stateDict()));
    if (byCallbacks) {
      EXPECT_EQ(textOf(folder.path / "parts.safetensors"), textOf(folder.path / "whole.safetensors"));
    } else {
      auto [loss, accuracy] = Trainer(silent(1)).evaluate(net, test);
      EXPECT_EQ(loss, *whole.epochs.at(size_t(*whole.bestEpoch)).evalLoss);
    }
  }
}

// Rates go by evaluations, early stop by losses, whose sums a checkpoint within an epoch has.
TEST(TrainerLoop, AnEarlyStopByLossesGoesOnWithinAnEpoch) {
  TrainerOptions options = silent(60);
  options.plateau = optim::PlateauOptions{.factor = 0.5, .patience = 0};
  options.earlyStop = EarlyStoppingOptions{.patience = 1, .minDelta = 0.05};
  options.monitor = "loss";
  data::Loader train = pointsLoader(), test = testLoader();
  FitResult whole = Trainer(options).fit(makeNet(), train, test);
  ASSERT_TRUE(whole.stopped);
  Folder folder;
  options.checkpoint = folder.path;
  options.maxSteps = 4;
  data::Loader first = pointsLoader();
  Trainer(options).fit(makeNet(), first, test);
  options.maxSteps = 0;
  options.resume = true;
  data::Loader rest = pointsLoader();
  FitResult result = Trainer(options).fit(makeNet(), rest, test);
  EXPECT_EQ(result.steps, whole.steps);
  EXPECT_EQ(result.bestEpoch, whole.bestEpoch);
  EXPECT_EQ(result.epochs.at(0).loss, whole.epochs.at(1).loss);
}

TEST(TrainerLoop, AnAverageIsWhatIsEvaluatedAndKept) {
  data::Loader train = pointsLoader(), test = testLoader();
  Net byHand = makeNet();
  optim::Optimizer optimizer = byHand.configureOptimizers();
  optim::Average average(byHand, 0.9);
  for (int epoch = 0; epoch < 2; ++epoch)
    for (auto [x, y] : train) {
      optimizer.update(grad(byHand.trainingStep(x, y), byHand.parameters()));
      average.update();
    }
  nn::StateDict last = byHand.stateDict();
  average.swap();
  for (int ranks : {1, 2}) {
    for (bool compiled : {true, false}) {
      TrainerOptions options = silent(2);
      options.ema = 0.9;
      options.ranks = ranks;
      options.compile = compiled;
      data::Loader again = pointsLoader();
      Net net = makeNet();
      FitResult result = Trainer(options).fit(net, again, test);
      ASSERT_TRUE(result.average);
      const double loss = Trainer(silent(1)).evaluate(net, test).first;
      EXPECT_NEAR(*result.epochs.back().evalLoss, loss, 1e-6 * loss);
      if (ranks > 1) continue; // whose sums have another order
      EXPECT_EQ(*result.epochs.back().evalLoss, loss);
      EXPECT_TRUE(areSame(net.stateDict(), byHand.stateDict()));
      result.average->swap();
      EXPECT_TRUE(areSame(net.stateDict(), last));
    }
  }
}

TEST(TrainerLoop, AnAverageGoesOnBehindAResume) {
  Folder folder;
  data::Loader train = pointsLoader();
  TrainerOptions options = silent(4);
  options.ema = 0.5;
  Net whole = makeNet();
  Trainer(options).fit(whole, train);
  options.checkpoint = folder.path;
  options.maxSteps = 5; // within an epoch
  data::Loader first = pointsLoader();
  Trainer(options).fit(makeNet(), first);
  options.maxSteps = 0;
  options.resume = true;
  data::Loader rest = pointsLoader();
  Net net = makeNet();
  FitResult result = Trainer(options).fit(net, rest);
  EXPECT_EQ(result.steps, 12);
  EXPECT_TRUE(areSame(net.stateDict(), whole.stateDict()));
  options.ema = 0.25;
  EXPECT_THAT(failureOf([&] { Trainer(options).fit(makeNet(), rest); }, ErrorKind::badInput),
              HasSubstr("ema is 0.5 there, 0.25 here"));
}

TEST(TrainerLoop, ARefusedResumeNamesTheField) {
  Folder folder;
  TrainerOptions options = silent(1);
  options.checkpoint = folder.path;
  data::Loader train = pointsLoader();
  Trainer(options).fit(makeNet(), train);
  options.resume = true;
  options.accumulate = 2;
  EXPECT_THAT(failureOf([&] { Trainer(options).fit(makeNet(), train); }, ErrorKind::badInput),
              HasSubstr("accumulate is 1 there, 2 here"));
  options.accumulate = 1;
  struct Scheduled : Net {
    optim::Optimizer configureOptimizers() const {
      optim::Optimizer result = optim::adam(*this, {.lr = 1e-2});
      result.setSchedule(optim::schedule::exponential(0.5));
      return result;
    }
  };
  manualSeed(5);
  Scheduled scheduled;
  EXPECT_THAT(failureOf([&] { Trainer(options).fit(scheduled, train); }, ErrorKind::badInput),
              HasSubstr("lr_schedule.name is \"constant\" there, \"exponential\" here"));
  // From a step-N of another folder.
  options.resume = false;
  options.checkpoint = folder.path / "other";
  options.resumeFrom = folder.path / "step-3";
  options.maxEpochs = 2;
  FitResult result = Trainer(options).fit(makeNet(), train);
  EXPECT_EQ(result.losses.size(), 3u);
  EXPECT_EQ(result.steps, 6);
}

TEST(TrainerLoop, LengthAndEvaluationsBySteps) {
  data::Loader train = pointsLoader(), test = testLoader();
  TrainerOptions options = silent(1);
  options.maxSteps = 8;
  options.evaluateEvery = 2;
  FitResult result = Trainer(options).fit(makeNet(), train, test);
  EXPECT_EQ(result.steps, 8);
  ASSERT_EQ(result.epochs.size(), 3u);
  EXPECT_FALSE(result.epochs[0].evalLoss);
  EXPECT_TRUE(result.epochs[1].evalLoss);
  EXPECT_TRUE(result.epochs[2].evalLoss); // behind the last step
  EXPECT_EQ(result.epochs[2].steps, 8);
  EXPECT_GT(result.time.seconds, 0);
  EXPECT_GT(result.time.computing, 0);
  EXPECT_LE(result.time.waiting + result.time.computing, result.time.seconds * 1.001);
}

TEST(TrainerLoop, MetricsFilesGoOn) {
  for (const char *name : {"metrics.csv", "metrics.jsonl"}) {
    Folder folder;
    TrainerOptions options = silent(2);
    options.metrics = folder.path / name;
    options.checkpoint = folder.path / "run";
    options.plot = folder.path / "run.svg";
    data::Loader train = pointsLoader();
    Trainer(options).fit(makeNet(), train);
    auto lines = [&] {
      training::MetricsWriter writer(options.metrics, 100);
      return writer.kept();
    };
    std::vector<training::StepMetrics> before = lines();
    ASSERT_EQ(before.size(), 6u);
    EXPECT_TRUE(before[0].waitSeconds);
    options.maxEpochs = 4;
    options.resume = true;
    data::Loader rest = pointsLoader();
    Trainer(options).fit(makeNet(), rest);
    std::vector<training::StepMetrics> after = lines();
    ASSERT_EQ(after.size(), 12u);
    EXPECT_TRUE(std::equal(before.begin(), before.end(), after.begin()));
    EXPECT_GE(after[6].seconds, before[5].seconds);
    // The chart has the whole run: its first step is there again.
    EXPECT_TRUE(textOf(options.plot).starts_with("<svg"));
  }
}

TEST(TrainerLoop, AnEarlierCsvGetsItsColumns) {
  Folder folder;
  TrainerOptions options = silent(1);
  options.metrics = folder.path / "metrics.csv";
  options.checkpoint = folder.path / "run";
  data::Loader train = pointsLoader();
  Trainer(options).fit(makeNet(), train);
  data::writeFile(options.metrics, std::string("step,loss,grad_norm,lr,seconds,eval_loss,eval_accuracy\n"
                                               "0,1.5,2,0.01,0.1,,\n1,1.25,2,0.01,0.2,,\n2,1,2,0.01,0.3,0.5,0.75\n"));
  options.maxEpochs = 2;
  options.resume = true;
  data::Loader rest = pointsLoader();
  Trainer(options).fit(makeNet(), rest);
  std::string text = textOf(options.metrics);
  EXPECT_TRUE(text.starts_with("step,loss,grad_norm,lr,seconds,eval_loss,eval_accuracy,wait_seconds\n"
                               "0,1.5,2,0.01,0.1,,,\n1,1.25,2,0.01,0.2,,,\n2,1,2,0.01,0.3,0.5,0.75,\n3,"))
      << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 7);
}

TEST(TrainerLoop, AFullDiskEndsNoRun) {
  TrainerOptions options = silent(2);
  options.metrics = "/dev/full";
  data::Loader train = pointsLoader();
  FitResult result = Trainer(options).fit(makeNet(), train);
  EXPECT_EQ(result.steps, 6);
  ASSERT_EQ(result.unwritten.size(), 1u);
  EXPECT_THAT(result.unwritten[0], HasSubstr("/dev/full: cannot write"));
  options.metrics.clear();
  options.plot = "/none/run.svg";
  EXPECT_THAT(failureOf([&] { Trainer(options).fit(makeNet(), train); }, ErrorKind::runtime),
              HasSubstr("/none/run.svg: cannot be written"));
}

TEST(TrainerLoop, PartsInEvaluationModeStaySo) {
  Net net = makeNet(false, true);
  net.norm.eval();
  data::Loader train = pointsLoader(), test = testLoader();
  const std::string before = net.norm.stateDict()[2].value.text();
  Trainer(silent(1)).fit(net, train, test);
  EXPECT_FALSE(net.norm.isTraining());
  EXPECT_TRUE(net.isTraining());
  EXPECT_EQ(net.norm.stateDict()[2].value.text(), before); // running statistics
  net.eval();
  Trainer(silent(1)).fit(net, train, test);
  EXPECT_TRUE(net.isTraining());
  EXPECT_TRUE(net.norm.isTraining());
}

TEST(TrainerLoop, MetricsOfTheModuleAreAveragedLikeTheLoss) {
  Folder folder;
  TrainerOptions options = silent(2);
  options.metrics = folder.path / "metrics.jsonl";
  options.tensorboard = folder.path / "logs";
  options.restoreBest = true;
  options.monitor = "eval_size";
  data::Loader train = pointsLoader(), test = testLoader();
  Measured net = makeMeasured();
  FitResult result = Trainer(options).fit(net, train, test);
  data::Loader plain = pointsLoader();
  EXPECT_EQ(result.losses, Trainer(silent(2)).fit(makeNet(), plain, test).losses);
  training::MetricsWriter file(options.metrics, 100);
  const std::vector<training::StepMetrics> &lines = file.kept();
  ASSERT_EQ(lines.size(), 6u);
  double sum = 0;
  for (size_t i = 0; i < 3; ++i) {
    ASSERT_GE(lines[i].numbers.size(), 2u);
    EXPECT_EQ(lines[i].numbers[0].first, "size");
    sum += lines[i].numbers[0].second * (i < 2 ? 24 : 2) / 50;
  }
  ASSERT_EQ(result.epochs[0].metrics.size(), 4u);
  EXPECT_EQ(result.epochs[0].metrics[0].first, "size");
  EXPECT_NEAR(result.epochs[0].metrics[0].second, sum, 1e-6 * std::abs(sum));
  EXPECT_EQ(result.epochs[0].metrics[1], (std::pair<std::string, double>("one", 1.0)));
  EXPECT_EQ(result.epochs[0].metrics[2].first, "eval_size");
  EXPECT_EQ(lines[2].numbers[2], result.epochs[0].metrics[2]);
  ASSERT_TRUE(result.bestEpoch);
  EXPECT_EQ(*result.bestEpoch, result.epochs[0].metrics[2].second <= result.epochs[1].metrics[2].second ? 0 : 1);
  // The evaluation is of all samples together.
  NoGrad quiet;
  net.eval();
  for (auto [x, y] : data::Loader(points(25), data::LoaderOptions{.batch = 25, .workers = 0}))
    EXPECT_NEAR(mean(square(net(x))).item<float>(), result.epochs[size_t(*result.bestEpoch)].metrics[2].second, 1e-5);
  size_t events = 0;
  for (auto &entry : fs::directory_iterator(options.tensorboard))
    for (const events::ReadEvent &event : events::readEvents(entry.path()))
      if (event.tag == "eval/size") {
        ++events;
        EXPECT_EQ(event.value, float(result.epochs[event.step == 2 ? 0 : 1].metrics[2].second));
      } else if (event.tag == "loss") {
        EXPECT_EQ(event.value, result.losses.at(size_t(event.step)));
      }
  EXPECT_EQ(events, 2u);
}

TEST(TrainerLoop, MetricsAreThoseOfAllRanks) {
  auto metricsOn = [](int ranks, int64_t accumulate) {
    TrainerOptions options = silent(1);
    options.ranks = ranks;
    options.accumulate = accumulate;
    data::Loader train(points(48), data::LoaderOptions{.batch = 24, .workers = 0}), test = testLoader();
    return Trainer(options).fit(makeMeasured(), train, test).epochs.at(0).metrics;
  };
  auto one = metricsOn(1, 1);
  for (auto [ranks, accumulate] : {std::pair(2, 1), {3, 1}, {1, 2}, {2, 2}}) {
    auto found = metricsOn(ranks, accumulate);
    ASSERT_EQ(found.size(), one.size());
    for (size_t i = 0; i < one.size(); ++i) {
      EXPECT_EQ(found[i].first, one[i].first);
      EXPECT_NEAR(found[i].second, one[i].second, 1e-5 * std::abs(one[i].second)) << ranks << " " << accumulate;
    }
  }
}

TEST(TrainerLoop, MetricsThatCannotBeAreRefused) {
  struct Named : Net {
    std::vector<std::pair<std::string, Tensor>> metrics;
    Scores trainingStep(const Tensor &x, const Tensor &y) const {
      return {.loss = crossEntropy((*this)(x), y), .metrics = metrics};
    }
  };
  data::Loader train = pointsLoader();
  const Tensor one(1.0f);
  for (auto &[metrics, text] : std::vector<std::pair<std::vector<std::pair<std::string, Tensor>>, std::string>>{
           {{{"", one}}, "metric '' has no name"},
           {{{"loss", one}}, "metric 'loss' has a name that the trainer itself uses"},
           {{{"wait_seconds", one}}, "metric 'wait_seconds' has a name that the trainer itself uses"},
           {{{"eval_x", one}}, "metric 'eval_x' starts with 'eval_'"},
           {{{"a b", one}}, "metric 'a b' has characters other than"},
           {{{"a", one}, {"a", one}}, "metric 'a' is there twice"},
           {{{"a", zeros({2})}}, "metric 'a' is 2xf32, expected a single float"},
           {{{"a", Tensor(int64_t(1))}}, "metric 'a' is i64, expected a single float"},
           {{{"a", Tensor()}}, "metric 'a' is not defined, expected a single float"}}) {
    manualSeed(5);
    Named net;
    net.metrics = metrics;
    std::string error = failureOf([&] { Trainer(silent(1)).fit(net, train); }, ErrorKind::usage);
    EXPECT_THAT(error, HasSubstr("trainingStep: " + text));
    EXPECT_THAT(error, HasSubstr("TrainerLoopTest.cpp:"));
  }
  TrainerOptions options = silent(2);
  options.earlyStop = EarlyStoppingOptions{};
  options.monitor = "speed";
  EXPECT_THAT(failureOf([&] { Trainer(options).fit(makeMeasured(), train); }, ErrorKind::usage),
              HasSubstr("monitor is speed, and what is measured is loss, size, one"));
  options.monitor = "eval_size";
  EXPECT_THAT(failureOf([&] { Trainer(options).fit(makeMeasured(), train); }, ErrorKind::usage),
              HasSubstr("monitor is eval_size, and there are no data to evaluate on"));
  options.earlyStop.reset();
  EXPECT_THAT(failureOf([&] { Trainer trainer(options); }, ErrorKind::usage), HasSubstr("neither is given"));
}

TEST(TrainerLoop, DebugNanNamesTheLine) {
  struct Wrong : Net {
    Tensor trainingStep(const Tensor &x, const Tensor &y) const {
      Tensor h = (*this)(x);
      Tensor wrong = log(sub(h, 1000.0)); // this line
      return sprig::add(crossEntropy(h, y), mean(wrong));
    }
  };
  manualSeed(5);
  Wrong net;
  TrainerOptions options = silent(1);
  options.debugNan = true;
  data::Loader train = pointsLoader();
  std::string error = failureOf([&] { Trainer(options).fit(net, train); }, ErrorKind::runtime);
  EXPECT_THAT(error, HasSubstr("log"));
  EXPECT_THAT(error, HasSubstr("TrainerLoopTest.cpp:"));
  // The bits of a run without such a value are the same.
  data::Loader again = pointsLoader(), plain = pointsLoader();
  EXPECT_EQ(Trainer(options).fit(makeNet(), again).losses, Trainer(silent(1)).fit(makeNet(), plain).losses);
}

} // namespace sprig
