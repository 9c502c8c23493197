// The rules of the training loop, with a runner whose steps are arithmetic on one array.
#include "lib/TrainLoop/Loop.h"
#include "lib/Data/File.h"
#include "lib/TrainLoop/RunFiles.h"
#include "lib/TrainLoop/ResumePoint.h"
#include "lib/Training/StateNames.h"
#include "sprig/error.h"
#include "test/unit/Folder.h"
#include <cmath>
#include <csignal>
#include <cstring>
#include <gtest/gtest.h>
#include <map>
#include <numeric>

using namespace sprig;
using namespace sprig::training;

namespace {

/// Two weights: each step takes the rate and a share of the samples' numbers from them, and the loss is their sum.
class FakeRunner final : public StepRunner {
public:
  std::vector<float> w = {8, 4};
  double base = 0.5;
  size_t ahead = 1;
  std::map<int64_t, float> losses; ///< of steps that give another one
  std::map<int64_t, float> writes; ///< of steps that set the first weight
  std::map<int64_t, double> evaluations;
  std::optional<double> accuracy;
  std::vector<int64_t> skipped; ///< steps that do not update
  std::vector<std::string> told;
  int64_t updates = 0;
  size_t mostUnderWay = 0;
  int64_t firstOfLastCall = -1;
  int64_t fails = -1; ///< the step that cannot be begun

  size_t maxInFlight() const override { return ahead; }
  void submit(const Call &call) override {
    if (fails >= call.first && fails < call.first + call.samples.steps) runtimeError("no memory");
    std::vector<StepResult> &results = underWay.emplace_back();
    const std::vector<int64_t> &indices = call.samples.indices;
    firstOfLastCall = call.first;
    for (int64_t step = call.first; step < call.first + call.samples.steps; ++step) {
      StepResult result;
      result.lr = rateAt(step);
      result.loss = losses.contains(step) ? losses[step] : w[0] + w[1];
      result.updated = std::find(skipped.begin(), skipped.end(), step) == skipped.end();
      result.numbers = {{"scale", double(step)}};
      result.begin = call.begin;
      result.ready = result.end = Clock::now();
      if (result.updated) {
        ++updates;
        const int64_t *first = indices.data() + (step - call.first) * call.samples.each;
        float sum = float(std::accumulate(first, first + call.samples.each, int64_t(0)));
        w[0] -= float(result.lr) * 0.125f * sum;
        w[1] *= 0.75f;
      }
      if (writes.contains(step)) w[0] = writes[step];
      results.push_back(result);
    }
    mostUnderWay = std::max(mostUnderWay, underWay.size());
    told.push_back("steps " + std::to_string(call.samples.steps) + " x " + std::to_string(call.samples.each));
  }
  std::span<const StepResult> collect(bool wait) override {
    if (!wait) return {};
    last = underWay.front();
    underWay.pop_front();
    return last;
  }
  void cancel() override { underWay.clear(); }
  Evaluation evaluate() override {
    EXPECT_TRUE(underWay.empty());
    told.push_back("evaluation");
    int64_t done = firstOfLastCall + 1;
    return {.loss = evaluations.contains(done) ? evaluations[done] : double(w[0]), .accuracy = accuracy};
  }
  WholeState state() override {
    EXPECT_TRUE(underWay.empty());
    return {{{"w", data::DType::f32, {2}, {reinterpret_cast<const char *>(w.data()), 8}},
             {kLr, data::DType::f64, {}, {reinterpret_cast<const char *>(&base), 8}}}};
  }
  void restore(const std::vector<data::Array> &arrays) override {
    ASSERT_EQ(arrays.size(), 2u);
    for (const data::Array &array : arrays)
      std::memcpy(array.name == kLr ? static_cast<void *>(&base) : w.data(), array.bytes.data(), 8);
  }
  std::vector<data::Array> weights() override {
    const char *bytes = reinterpret_cast<const char *>(w.data());
    return {{"w", data::DType::f32, {2}, {bytes, bytes + 8}}};
  }
  void setWeights(const std::vector<data::Array> &arrays) override {
    std::memcpy(w.data(), arrays.at(0).bytes.data(), 8);
  }
  double rateAt(int64_t) const override { return base; }
  bool lowerRates(const ScheduleConfig &schedule) override {
    base = loweredRate(schedule, base);
    return true;
  }

private:
  std::deque<std::vector<StepResult>> underWay;
  std::vector<StepResult> last;
};

struct Told final : LoopObserver {
  std::vector<StepMetrics> lines;
  std::vector<EpochSummary> epochs;
  std::vector<std::string> warnings;
  int64_t endsAfter = -1; ///< epochs
  int checkpoints = 0, ends = 0, raises = -1;
  double seen = 0;

  void onStep(const StepMetrics &line) override {
    lines.push_back(line);
    if (line.step == raises) ::raise(SIGTERM);
  }
  bool onEpoch(const EpochSummary &epoch) override {
    epochs.push_back(epoch);
    epochs.back().evaluation = nullptr;
    seen += epoch.loss;
    return int64_t(epochs.size()) != endsAfter;
  }
  void onCheckpoint() override { ++checkpoints; }
  void onWarning(const std::string &text) override { warnings.push_back(text); }
  void onEnd() override { ++ends; }
  std::vector<double> state() const override { return {seen}; }
  void restore(std::span<const double> numbers) override {
    if (!numbers.empty()) seen = numbers[0];
  }
};

/// A run of ten samples in batches of four: epochs of three steps, the last of two samples.
struct FakeRun {
  FakeRunner runner;
  IndexSource source{{.samples = 10, .batch = 4}};
  LoopOptions options;
  Told told;
  std::optional<checkpoints::Checkpoint> from;

  explicit FakeRun(int64_t steps) { options.steps = steps; }
  LoopResult operator()() {
    Loop loop(runner, source, nullptr, options);
    loop.add(told);
    if (from) loop.resume(*from);
    return loop.run();
  }
  std::vector<float> losses() const {
    std::vector<float> found;
    for (const StepMetrics &line : told.lines) found.push_back(line.loss);
    return found;
  }
};

ScheduleConfig plateau(int64_t patience) {
  return {.kind = ScheduleKind::plateau, .factor = 0.5, .patience = patience};
}

std::string errorOf(FakeRun &run) {
  try {
    run();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

checkpoints::Checkpoint newestOf(const Folder &folder) { return checkpoints::loadForResume(folder.path); }

} // namespace

TEST(Loop, MeanOfAnEpochIsOverItsSamples) {
  FakeRun run(6);
  for (int64_t step = 0; step < 6; ++step) run.runner.losses[step] = float(step + 1);
  LoopResult result = run();
  ASSERT_EQ(run.told.epochs.size(), 2u);
  EXPECT_DOUBLE_EQ(run.told.epochs[0].loss, (1 * 4 + 2 * 4 + 3 * 2) / 10.0);
  EXPECT_DOUBLE_EQ(run.told.epochs[1].loss, (4 * 4 + 5 * 4 + 6 * 2) / 10.0);
  EXPECT_EQ(run.told.epochs[1].samples, 10);
  EXPECT_DOUBLE_EQ(result.epochLoss, run.told.epochs[1].loss);
  EXPECT_EQ(result.samples, 20);
  EXPECT_EQ(result.steps, 6);
  EXPECT_EQ(run.told.ends, 1);
  EXPECT_EQ(run.told.lines[4].numbers, (std::vector<std::pair<std::string, double>>{{"scale", 4.0}}));
}

TEST(Loop, ARunMayEndWithinAnEpoch) {
  FakeRun run(4);
  run.options.evaluates = true;
  LoopResult result = run();
  ASSERT_EQ(run.told.epochs.size(), 2u);
  EXPECT_EQ(run.told.epochs[1].samples, 4);
  EXPECT_FALSE(run.told.lines[1].evalLoss);
  EXPECT_TRUE(run.told.lines[2].evalLoss);
  EXPECT_TRUE(run.told.lines[3].evalLoss);
  EXPECT_EQ(*run.told.lines[3].evalLoss, result.evaluation->loss);
}

TEST(Loop, EvaluatesEveryFewEpochs) {
  FakeRun run(9);
  run.options.evaluates = true;
  run.options.evaluateEvery = 2;
  run();
  for (const StepMetrics &line : run.told.lines)
    EXPECT_EQ(line.evalLoss.has_value(), line.step == 5 || line.step == 8) << line.step;
  FakeRun never(9);
  never.options.evaluates = true;
  never.options.evaluateEvery = 0;
  never();
  for (const StepMetrics &line : never.told.lines) EXPECT_EQ(line.evalLoss.has_value(), line.step == 8) << line.step;
}

// What is done behind a step sees the state behind it, however many calls may be under way.
TEST(Loop, CallsAheadChangeNothing) {
  Folder one, other;
  FakeRun alone(9), ahead(9);
  ahead.runner.ahead = 5;
  for (FakeRun *run : {&alone, &ahead}) {
    run->options.checkpoints = (run == &alone ? one : other).path;
    run->options.checkpointEvery = 4;
    run->options.evaluates = true;
    run->options.evaluateEvery = 2;
    (*run)();
  }
  EXPECT_EQ(alone.losses(), ahead.losses());
  EXPECT_EQ(alone.runner.w, ahead.runner.w);
  EXPECT_EQ(alone.runner.mostUnderWay, 1u);
  EXPECT_EQ(ahead.runner.mostUnderWay, 4u); // a checkpoint behind the fourth
  EXPECT_EQ(newestOf(one).arrays[0].bytes, newestOf(other).arrays[0].bytes);
  EXPECT_EQ(checkpoints::listSteps(one.path), checkpoints::listSteps(other.path));
}

TEST(Loop, CallsOfSeveralStepsEndWhereSomethingLiesBehind) {
  FakeRun run(9);
  Folder folder;
  run.options.stepsPerCall = 2;
  run.options.checkpoints = folder.path;
  run.options.checkpointEvery = 4;
  run();
  EXPECT_EQ(run.runner.told, (std::vector<std::string>{"steps 2 x 4", "steps 1 x 2", "steps 1 x 4", "steps 1 x 4",
                                                       "steps 1 x 2", "steps 2 x 4", "steps 1 x 2"}));
  FakeRun single(9);
  single();
  EXPECT_EQ(single.runner.w, run.runner.w);
}

TEST(Loop, AFailureOfAStepThatWasBegunEarlyComesBehindThoseBeforeIt) {
  FakeRun run(9);
  run.runner.ahead = 4;
  run.runner.fails = 2;
  EXPECT_EQ(errorOf(run), "no memory");
  EXPECT_EQ(run.told.lines.size(), 2u);
  EXPECT_EQ(run.told.ends, 1);
}

TEST(Loop, ALossThatIsNotFiniteEndsTheRun) {
  for (float loss : {NAN, HUGE_VALF, -HUGE_VALF})
    for (int64_t step : {0, 2, 7}) {
      Folder folder;
      FakeRun run(9);
      run.runner.losses[step] = loss;
      run.options.checkpoints = folder.path;
      run.options.checkpointEvery = 1;
      run.options.place = "net.cpp:3: ";
      run.options.explainHint = "ask";
      const char *name = std::isnan(loss) ? "NaN" : loss > 0 ? "infinity" : "-infinity";
      EXPECT_EQ(errorOf(run),
                "net.cpp:3: step " + std::to_string(step) + ": the loss is " + name +
                    " (learning rate 0.5)\nnote: ask" +
                    (step ? "\nnote: the checkpoint of step " + std::to_string(step) + " is from before" : ""));
      EXPECT_EQ(run.told.lines.size(), size_t(step + 1)); // with its line
      std::vector<int64_t> steps = checkpoints::listSteps(folder.path);
      EXPECT_EQ(steps.empty() ? 0 : steps.front(), step);
    }
}

TEST(Loop, NoCheckpointHasAStateThatIsNotFinite) {
  Folder folder;
  FakeRun run(9);
  run.runner.writes[4] = NAN;
  run.options.checkpoints = folder.path;
  run.options.checkpointEvery = 1;
  EXPECT_EQ(errorOf(run), "step 4: 'w' is not finite behind it, so no checkpoint is written (learning rate 0.5)\n"
                          "note: the checkpoint of step 4 is from before");
  EXPECT_EQ(checkpoints::listSteps(folder.path).front(), 4);
  // What was so from the start, as a mask of infinities, is no fault of a step.
  Folder fresh;
  FakeRun masked(2);
  masked.runner.w[0] = -HUGE_VALF;
  masked.runner.losses = {{0, 1.f}, {1, 1.f}};
  masked.options.checkpoints = fresh.path;
  EXPECT_EQ(errorOf(masked), "");
  EXPECT_EQ(checkpoints::listSteps(fresh.path).front(), 2);
}

TEST(Loop, AResumedRunIsTheOneThatNeverStopped) {
  auto configure = [](FakeRun &run, const Folder &folder) {
    run.options.checkpoints = folder.path;
    run.options.checkpointEvery = 2;
    run.options.keep = 20;
    run.options.plateau = plateau(0);
    run.options.early = EarlyStop{.patience = 3, .keepsBest = true};
    for (int64_t step = 0; step < 20; ++step) run.runner.losses[step] = step < 5 ? 8 - float(step) : 5 + float(step);
  };
  Folder folder;
  FakeRun whole(18);
  configure(whole, folder);
  LoopResult result = whole();
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.steps, 15); // three epochs behind the best, the second
  EXPECT_EQ(result.best->epoch, 1);
  for (int64_t step : checkpoints::listSteps(folder.path)) {
    Folder other;
    FakeRun again(18);
    configure(again, other);
    again.from = checkpoints::load(checkpoints::stepFolder(folder.path, step));
    LoopResult found = again();
    EXPECT_EQ(found.steps, 15) << step;
    EXPECT_EQ(again.runner.w, whole.runner.w) << step;
    EXPECT_EQ(again.runner.base, whole.runner.base) << step;
    EXPECT_EQ(again.told.seen, whole.told.seen) << step;
    std::vector<float> expected = whole.losses();
    expected.erase(expected.begin(), expected.begin() + ptrdiff_t(step));
    EXPECT_EQ(again.losses(), expected) << step;
  }
}

TEST(Loop, EarlyStopMayChangeBehindAResume) {
  auto by = [](FakeRun &run, const char *monitor, bool keepsBest) {
    run.options.evaluates = true;
    run.options.early = EarlyStop{.patience = 2, .keepsBest = keepsBest};
    run.options.monitor = monitor;
    run.runner.accuracy = 0.5;
    for (int64_t step = 0; step < 30; ++step) run.runner.losses[step] = float(step);
  };
  // What the first run stopped by, if by anything, and how long another one takes that goes on from its sixth step.
  auto stepsOf = [&](const char *first, bool firstKeeps, const char *second, bool secondKeeps) {
    Folder folder;
    FakeRun begin(6), rest(30);
    if (first) by(begin, first, firstKeeps);
    begin.options.checkpoints = folder.path;
    begin();
    rest.from = newestOf(folder);
    if (second) by(rest, second, secondKeeps);
    return rest().steps;
  };
  EXPECT_EQ(stepsOf("loss", false, "loss", false), 9);      // the first epoch is the best
  EXPECT_EQ(stepsOf("loss", false, nullptr, false), 30);    // it ends no run any more
  EXPECT_EQ(stepsOf(nullptr, false, "loss", false), 15);    // measured from the third epoch on
  EXPECT_EQ(stepsOf("accuracy", false, "loss", false), 15); // by another metric likewise
  EXPECT_EQ(stepsOf("loss", false, "loss", true), 15);      // and where best weights are to be kept
  EXPECT_EQ(stepsOf("loss", true, "loss", false), 9);
}

TEST(Loop, EarlierCheckpointsCountStepsOfAnEpoch) {
  Folder folder;
  FakeRun run(2);
  run.options.checkpoints = folder.path;
  run.options.plateau = plateau(0);
  run.runner.losses = {{0, 3.f}, {1, 5.f}};
  run();
  checkpoints::Checkpoint found = newestOf(folder);
  auto losses = std::find_if(found.arrays.begin(), found.arrays.end(),
                             [](const data::Array &array) { return array.name == kPlateauLoss; });
  ASSERT_NE(losses, found.arrays.end());
  const double ofSteps[] = {8, 2};
  std::memcpy(losses->bytes.data(), ofSteps, sizeof ofSteps);
  FakeRun again(3);
  again.options.plateau = plateau(0);
  again.runner.losses = {{2, 1.f}};
  again.from = found;
  again();
  EXPECT_DOUBLE_EQ(again.told.epochs.at(0).loss, (3 * 4 + 5 * 4 + 1 * 2) / 10.0);
}

TEST(Loop, EarlyStopKeepsTheBestWeights) {
  FakeRun run(30);
  run.options.evaluates = true;
  run.options.early = EarlyStop{.patience = 2, .minDelta = 0.5, .keepsBest = true};
  run.runner.evaluations = {{3, 5}, {6, 4}, {9, 3.75}, {12, 3.6}};
  std::vector<float> best;
  FakeRun until(6);
  until();
  LoopResult result = run();
  EXPECT_EQ(result.steps, 12);
  EXPECT_TRUE(result.stopped);
  EXPECT_EQ(result.best->value, 4);
  EXPECT_EQ(result.best->epoch, 1);
  EXPECT_EQ(run.runner.w, until.runner.w);
}

TEST(Loop, TheHighestAccuracyIsBest) {
  FakeRun run(12);
  run.options.evaluates = true;
  run.options.early = EarlyStop{.patience = 1};
  run.options.monitor = "accuracy";
  run.options.monitorField = "monitor";
  run.runner.accuracy = 0.5;
  LoopResult result = run();
  EXPECT_EQ(result.steps, 6); // the same is no improvement
  EXPECT_EQ(result.best->value, 0.5);
  FakeRun none(12);
  none.options = run.options;
  EXPECT_EQ(errorOf(none),
            "monitor is of the accuracy of evaluations, and epoch 0 was evaluated without counting hits");
  EXPECT_EQ(none.told.ends, 1);
}

TEST(Loop, AMonitorThatIsNotMeasuredIsRefused) {
  FakeRun run(3);
  run.options.early = EarlyStop{.patience = 1};
  run.options.monitorField = "monitor";
  for (auto [metric, text] : {std::pair("accuracy", "monitor is accuracy, and there are no data to evaluate on"),
                              {"eval_accuracy", "monitor is accuracy, and there are no data to evaluate on"},
                              {"eval_loss", "monitor is eval_loss, and there are no data to evaluate on"},
                              {"speed", "monitor is speed, and what is measured is loss, eval_loss and accuracy"}}) {
    run.options.monitor = metric;
    EXPECT_EQ(errorOf(run), text);
  }
  run.options.evaluates = true;
  run.options.evaluateEvery = 0;
  run.options.monitor = "eval_loss";
  EXPECT_EQ(errorOf(run), "monitor is eval_loss, and nothing is evaluated at the ends of epochs");
  EXPECT_TRUE(run.runner.told.empty());
}

TEST(Loop, AnObserverEndsTheRunBehindAnEpoch) {
  FakeRun run(9);
  run.runner.ahead = 4;
  run.options.meetsAtEpochs = true;
  run.told.endsAfter = 2;
  LoopResult result = run();
  EXPECT_EQ(result.steps, 6);
  EXPECT_TRUE(result.stopped);
}

TEST(Loop, ASignalEndsTheRunWithACheckpoint) {
  Folder folder;
  FakeRun run(9);
  run.options.checkpoints = folder.path;
  run.options.early = EarlyStop{.keepsBest = true};
  run.told.raises = 4;
  LoopResult result = run();
  EXPECT_EQ(result.signal, SIGTERM);
  EXPECT_FALSE(result.stopped);
  EXPECT_EQ(result.steps, 5);
  EXPECT_EQ(checkpoints::listSteps(folder.path).front(), 5);
  FakeRun until(5);
  until();
  EXPECT_EQ(run.runner.w, until.runner.w); // the last weights, not the best
}

TEST(Loop, SignalsOfAProgramWithHandlersAreItsOwn) {
  static int handled = 0;
  handled = 0;
  auto *before = std::signal(SIGTERM, [](int) { ++handled; });
  FakeRun run(6);
  run.told.raises = 2;
  LoopResult result = run();
  EXPECT_EQ(result.signal, 0);
  EXPECT_EQ(handled, 1);
  FakeRun replaced(6);
  replaced.options.replacesHandlers = true;
  replaced.told.raises = 2;
  EXPECT_EQ(replaced().signal, SIGTERM);
  FakeRun off(6);
  off.options.endsBySignal = false;
  off.told.raises = 2;
  EXPECT_EQ(off().signal, 0);
  EXPECT_EQ(handled, 2);
  std::signal(SIGTERM, before);
}

TEST(Loop, ASkippedStepUsesItsBatch) {
  FakeRun run(4);
  run.runner.skipped = {1};
  run();
  EXPECT_EQ(run.runner.updates, 3);
  EXPECT_EQ(run.told.lines.size(), 4u);
  EXPECT_EQ(run.told.epochs.at(0).samples, 10);
}

TEST(Loop, AnotherRunnerGoesOnWithTheState) {
  FakeRun whole(9);
  whole();
  FakeRun run(9);
  FakeRunner second, third;
  struct Replaces final : LoopObserver {
    Loop *loop = nullptr;
    std::map<int64_t, StepRunner *> behind;
    void onStep(const StepMetrics &line) override {
      if (behind.contains(line.step)) loop->replace(*behind[line.step]);
    }
  } replaces;
  run.runner.ahead = second.ahead = third.ahead = 1;
  Loop loop(run.runner, run.source, nullptr, run.options);
  loop.add(run.told);
  replaces.loop = &loop;
  replaces.behind = {{1, &second}, {5, &third}};
  loop.add(replaces);
  loop.run();
  EXPECT_EQ(run.losses(), whole.losses());
  EXPECT_EQ(third.w, whole.runner.w);
  EXPECT_EQ(second.told.size(), 4u);
}

TEST(Loop, WhatCannotBeWrittenEndsNoRun) {
  Folder folder;
  FakeRun run(4);
  Loop loop(run.runner, run.source, nullptr, run.options);
  loop.add(run.told);
  MetricsFile metrics(loop, "/dev/full", std::nullopt);
  loop.add(metrics);
  LoopResult result = loop.run();
  EXPECT_EQ(result.steps, 4);
  ASSERT_EQ(result.unwritten.size(), 1u);
  EXPECT_TRUE(result.unwritten[0].starts_with("/dev/full: cannot write: ")) << result.unwritten[0];
  ASSERT_EQ(run.told.warnings.size(), 1u);
  EXPECT_TRUE(run.told.warnings[0].ends_with("; training goes on without metrics")) << run.told.warnings[0];
}

TEST(ResumePoint, NamesTheFieldThatDiffers) {
  Folder folder;
  TrainConfig config;
  config.batch = 4;
  config.optimizer.lr = 0.5;
  checkpoints::Manifest identity;
  identifyConfig(config, 10, identity);
  {
    checkpoints::Writer writer(folder.path, 1);
    writer.save(identity, {});
    writer.wait();
  }
  ResumeRequest request{.folder = folder.path, .newest = true, .advice = "resume", .model = "model", .free = "steps"};
  EXPECT_TRUE(findCheckpoint(request, identity));
  auto error = [&](const ResumeRequest &given, const checkpoints::Manifest &own) -> std::string {
    try {
      findCheckpoint(given, own);
    } catch (const Error &found) {
      return found.what();
    }
    return "";
  };
  checkpoints::Manifest other;
  config.accumulate = 2;
  identifyConfig(config, 10, other);
  EXPECT_EQ(error(request, other), folder.path.string() +
                                       ": the checkpoint of step 0 is of another configuration or number of samples, "
                                       "so the run would not be the same: accumulate is 1 there, 2 here\n"
                                       "note: steps may change");
  other = identity;
  other.modelDigest = "x";
  EXPECT_EQ(error(request, other), folder.path.string() + ": the checkpoint of step 0 is of another model, so the run "
                                                          "would not be the same");
  request.newest = false;
  EXPECT_EQ(error(request, identity), folder.path.string() + ": holds the checkpoint of step 0 of another run\n"
                                                             "note: resume goes on with it; or give another folder");
  request.from = folder.path / "step-0";
  EXPECT_TRUE(findCheckpoint(request, identity));
}
