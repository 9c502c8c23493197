#include "tools/sprig/train/TrainLoop.h"
#include "tools/sprig/RankWeights.h"
#include "lib/Data/SamplesHash.h"
#include "lib/Training/ReadTrainConfig.h"
#include "lib/Training/Schedule.h"
#include "sprig/error.h"
#include "tools/sprig/Interrupt.h"
#include "tools/sprig/Report.h"
#include "tools/sprig/Timing.h"
#include "tools/sprig/train/RatePlateau.h"
#include "tools/sprig/train/TrainBatches.h"
#include "tools/sprig/train/TrainProgress.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <csignal>
#include <deque>
#include <exception>
#include <functional>
#include <string_view>
#include <utility>

namespace sprig::cli {
namespace {

// Processes that train together ask one another about so often whether one is to end.
constexpr double kAskSeconds = 0.1;

// Set by the first Ctrl-C, SIGTERM or SIGHUP; a second one ends the process at once.
std::atomic<int> interrupted{0};

class InterruptsWait {
public:
  InterruptsWait() {
    interrupted = 0;
    for (size_t i = 0; i < std::size(kSignals); ++i)
      handleInterrupt(kSignals[i], [](int signal) { interrupted = signal; }, int(SA_RESETHAND) | SA_RESTART, &old[i]);
  }
  /// Of processes that end by one's signal, the others' may still be on its way, and is no second one then: it is
  /// waited for up to the process's end.
  void awaitOwn() { isAwaited = interrupted == 0; }
  ~InterruptsWait() {
    if (isAwaited) return;
    for (size_t i = 0; i < std::size(kSignals); ++i) ::sigaction(kSignals[i], &old[i], nullptr);
  }

private:
  static constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};
  struct sigaction old[std::size(kSignals)];
  bool isAwaited = false;
};

/// The instruction set of the code that runs here, with what it uses beyond that.
std::string codeKind(const Runner &runner) {
  sprig_rt_package_info info;
  sprig_rt_package_describe(runner.package(), &info);
  std::string kind;
  for (uint32_t i = 0; i < info.image_count; ++i) {
    sprig_rt_image_info image;
    check(sprig_rt_package_image(runner.package(), i, &image));
    if (!image.loaded) continue;
    kind += (kind.empty() ? "" : ", ") + std::string(image.isa);
    if (*image.features) kind += " with " + std::string(image.features);
  }
  return kind;
}

std::string hashText(const TrainData &data) {
  data::SamplesHash hash;
  auto add = [&](const data::Samples &samples) {
    hash.add(data::describe(samples.dtype(), samples.shape()));
    const int64_t each = samples.sampleElements() * int64_t(data::size(samples.dtype()));
    hash.addSamples(samples.count(), each, [&](int64_t begin, int64_t end) {
      hash.add({samples.bytes() + begin * each, size_t((end - begin) * each)});
    });
  };
  for (const data::Samples &samples : data.inputs) add(samples);
  if (data.targets) add(*data.targets);
  return hash.text();
}

/// A JSON object of texts by their numbers.
std::string numbered(const std::vector<std::string> &texts) {
  Json json = Json::object();
  for (const std::string &text : texts) json[std::to_string(json.size() + 1)] = text;
  return json.dump();
}

class Loop {
public:
  Loop(TrainRanks &program, const TrainData &data, const TrainData *evaluation, const TrainLoopOptions &options)
      : program(program), data(data), evaluation(evaluation), options(options), config(options.config),
        batches({.samples = data.count(),
                 .batch = config.batch * config.accumulate,
                 .shuffle = config.shuffle,
                 .dropLast = config.dropLast,
                 .seed = config.seed}) {
    if (config.schedule.kind == training::ScheduleKind::plateau) plateau.emplace(config, evaluation != nullptr);
    if (options.loader.wanted()) openLoader();
    resume();
    const RankShare &share = program.first().rankShare();
    const bool areProcesses = program.areProcesses();
    const training::Fact beginning[] = {
        {"kinds of code", codeKind(program.first().package())},
        {"numbers of samples", std::to_string(data.count())},
        {"numbers of samples to evaluate", std::to_string(evaluation ? evaluation->count() : 0)},
        {"shares", textOf(share.weights, share.ranks)},
        {"configurations", training::toJson(config), /*isJson=*/true},
        {"hashes of the samples", areProcesses ? hashText(data) : ""},
        {"hashes of the samples to evaluate", areProcesses && evaluation ? hashText(*evaluation) : ""},
        {"steps to go on from", std::to_string(outcome.steps)},
        {"collectives", numbered(options.collectives), /*isJson=*/true}};
    program.checkBeginning(beginning);
    if (!options.checkpoints.empty() && options.writesCheckpoints) writer.emplace(options.checkpoints, options.keep);
    if (!options.metrics.empty())
      metrics.emplace(options.metrics, options.resume ? std::optional(outcome.steps) : std::nullopt);
    if (metrics && !metrics->kept().empty()) {
      earlierSeconds = metrics->kept().back().seconds;
      if (options.keepHistory) outcome.history = metrics->kept();
    }
  }

  TrainOutcome run() {
    std::optional<InterruptsWait> signals;
    if (options.endsBySignal) signals.emplace();
    int64_t each = config.batch * config.accumulate, perEpoch = batches.stepsPerEpoch();
    TrainProgress::Epoch epochSizes{perEpoch, config.dropLast ? perEpoch * each : data.count(), each};
    TrainProgress progress(*config.steps, epochSizes, outcome.steps, options.logEvery);
    auto start = Clock::now();
    auto secondsAt = [&](Clock::time_point now) { return std::chrono::duration<double>(now - start).count(); };
    UnderWay underWay(program);
    askedAt = start;
    if (options.checkEvery) program.checkReplicas();
    while ((outcome.steps < *config.steps && !stops()) || !started.empty()) {
      std::exception_ptr failure; // of a step that was begun too early to tell
      if (started.empty()) startNext();
      if (mayGoAhead()) try {
          startNext();
        } catch (...) {
          failure = std::current_exception();
        }
      Started call = started.front();
      std::span<const StepResult> results = finishFirst();
      std::optional<double> exposed = exposedSeconds(call.count);
      for (const StepResult &result : results) {
        bool isLast = &result == &results.back();
        training::StepMetrics line = endStep(result);
        line.exposedSeconds = exposed;
        if (isLast && options.checkEvery && outcome.steps % options.checkEvery == 0) checkReplicas(line.step);
        line.seconds = earlierSeconds + secondsAt(result.end);
        if (std::isfinite(line.loss) && isLast) {
          if (call.evaluates) evaluate(line);
          if (plateau && call.endsEpoch) endEpoch(call);
        }
        progress.step(line);
        if (options.keepHistory) outcome.history.push_back(line);
        writeMetrics([&] { metrics->write(line); });
        outcome.last = line;
        if (!std::isfinite(line.loss)) {
          progress.finish();
          reportNonFinite(line);
        }
      }
      if (call.saves) trySave();
      if (call.asks) ask();
      if (failure) std::rethrow_exception(failure);
    }
    progress.finish();
    if (outcome.steps < *config.steps) outcome.signal = stops();
    if (signals && agreedSignal) signals->awaitOwn();
    auto end = Clock::now();
    outcome.seconds = secondsAt(end);
    outcome.time.end(end);
    outcome.samplesPerSecond = progress.samplesPerSecond();
    if (plateau) outcome.scheduleState = plateau->arrays();
    // A run that was over already is evaluated all the same.
    if (evaluation && outcome.done == 0 && !stops()) outcome.evaluation = program.evaluate(*evaluation);
    if (epochSteps) outcome.epochLoss /= double(epochSteps);
    // What was not written is tried again, where that asks nothing of other ranks.
    if (saves() && (program.sharesState() ? asked : saved) != outcome.steps) trySave();
    if (writer) tryToWrite("the checkpoints before it stay", [&] { writer->wait(); });
    flushMetrics();
    return std::move(outcome);
  }

private:
  TrainRanks &program;
  const TrainData &data;
  const TrainData *evaluation;
  const TrainLoopOptions &options;
  const training::TrainConfig &config;
  data::Batches batches;
  std::optional<TrainBatches> loaded; ///< the same, by a loader
  std::optional<RatePlateau> plateau;
  std::optional<checkpoints::Writer> writer;
  std::optional<training::MetricsWriter> metrics;
  TrainOutcome outcome;
  double earlierSeconds = 0;
  int64_t epochSteps = 0, epoch = -1;
  uint64_t exposedBefore = 0;     ///< ns of communication that nothing hid, up to the last step that has ended
  int64_t saved = -1, asked = -1; ///< steps of the last checkpoint, and of the last that was to be one
  // Calls that were handed over to the program, in their order.
  struct Started {
    int64_t number, count, epoch; // the first step's, steps, and the epoch that they are of
    bool evaluates, saves, asks;  // behind it
    bool endsEpoch, measures;     // and whether what it evaluates counts for the schedule
  };
  std::deque<Started> started;
  // Nothing of a run that ended by an error goes on behind it.
  struct UnderWay {
    explicit UnderWay(TrainRanks &program) : program(program) {}
    ~UnderWay() { program.cancel(); }
    TrainRanks &program;
  };
  std::vector<data::Array> before; // the state of the step, where a loss that is not finite is to be explained
  std::vector<int64_t> indices;    // of the samples of the call that was started last
  std::vector<data::Batch> ahead;  // the same, of a loader
  // Of processes: the signal that one of them had, as all know, and how many steps are done when they ask next.
  int agreedSignal = 0;
  int64_t askAt = 1, askedFor = 1;
  Clock::time_point askedAt;

  // A full disk costs what is written on the way, not the run: it goes on, and its end says what is missing. Whether
  // it was written.
  template <typename Write> bool tryToWrite(const char *consequence, Write write) {
    try {
      write();
      return true;
    } catch (const Error &error) {
      if (error.kind() != ErrorKind::runtime) throw;
      warn(std::string(error.what()) + "; " + consequence);
      if (std::find(outcome.unwritten.begin(), outcome.unwritten.end(), error.what()) == outcome.unwritten.end())
        outcome.unwritten.push_back(error.what());
      return false;
    }
  }
  template <typename Write> void writeMetrics(Write write) {
    if (metrics && !tryToWrite("training goes on without metrics", write)) metrics.reset();
  }
  void flushMetrics() {
    writeMetrics([&] { metrics->flush(); });
  }
  void trySave() {
    tryToWrite("training goes on, and tries again at the next checkpoint", [&] { save(); });
  }

  // The signal that ends the run behind the step under way; of processes the same one behind the same step.
  int stops() const { return program.areProcesses() ? agreedSignal : interrupted.load(); }

  void ask() {
    auto now = Clock::now();
    double seconds = std::max(1e-6, std::chrono::duration<double>(now - askedAt).count());
    int64_t steps = std::clamp(int64_t(double(askedFor) * kAskSeconds / seconds), int64_t(1), askedFor * 8);
    int signal = interrupted;
    program.agree(signal, steps);
    agreedSignal = signal;
    askedFor = steps;
    askAt = outcome.steps + steps;
    askedAt = now;
  }

  bool saves() const { return writer || (!options.checkpoints.empty() && program.sharesState()); }
  int64_t every() const { return options.every > 0 ? options.every : batches.stepsPerEpoch(); }

  void openLoader() {
    data::LoaderOptions loader = loaderOptions(options.loader);
    loader.batch = config.batch * config.accumulate;
    if (config.shuffle) loader.shuffle = config.seed;
    loader.dropLast = config.dropLast;
    loaded.emplace(data, program.first().inputs(), loader);
  }

  void resume() {
    if (!options.resume) return;
    const checkpoints::Manifest &manifest = options.resume->manifest;
    if (plateau) {
      std::vector<data::Array> arrays = options.resume->arrays;
      plateau->takeFrom(arrays);
      program.restore(arrays);
    } else {
      program.restore(options.resume->arrays);
    }
    batches.seek({manifest.epoch, manifest.index});
    if (loaded) loaded->seek(manifest.epoch, manifest.index / (config.batch * config.accumulate));
    outcome.steps = saved = asked = manifest.step;
  }

  // What fails in a call is told with the numbers of its steps.
  template <typename Do> static auto inStep(int64_t number, int64_t count, Do act) {
    try {
      return act();
    } catch (const Error &error) {
      std::string first = std::to_string(number), last = std::to_string(number + count - 1);
      throw Error(error.kind(),
                  (count == 1 ? "step " + first : "steps " + first + " to " + last) + ": " + error.what());
    }
  }

  void checkReplicas(int64_t step) const {
    inStep(step, 1, [&] { program.checkReplicas(); });
  }

  // How many steps the next call takes: as many as the program takes at once where none of them ends an epoch early or
  // has something behind it that sees the state, else one.
  int64_t stepsOfCall(int64_t number) const {
    int64_t most = options.stepsPerCall, each = config.batch * config.accumulate;
    if (most == 1 || each != program.first().samplesOfSeveral()) return 1;
    data::Batches::Position at = batches.position();
    bool isInEpoch = (data.count() - at.index) / each >= most;
    auto isBetween = [&](int64_t period) { return number / period == (number + most - 1) / period; };
    bool isWhole = isInEpoch && number + most <= *config.steps && (!saves() || isBetween(every())) &&
                   (!options.checkEvery || isBetween(options.checkEvery));
    return isWhole ? most : 1;
  }

  void startNext() {
    int64_t number = started.empty() ? outcome.steps : started.back().number + started.back().count;
    Started call{number, stepsOfCall(number), batches.position().epoch, false, false, false, false, false};
    if (options.explain) before = copyState(program.state().arrays);
    indices.clear();
    for (int64_t step = 0; step < call.count; ++step) {
      std::span<const int64_t> samples = batches.next();
      indices.insert(indices.end(), samples.begin(), samples.end());
    }
    inStep(number, call.count, [&] { submit(call.count); });
    int64_t last = number + call.count - 1;
    call.evaluates = evaluationIsDueAfter(last);
    call.endsEpoch = batches.position().index == 0;
    call.measures = evaluation && evaluationEndsEpoch();
    call.saves = saves() && (last + 1) % every() == 0;
    call.asks = program.areProcesses() && options.endsBySignal && last + 1 >= askAt;
    started.push_back(call);
  }

  // Whether the call behind the one under way may be handed over, before that one's losses are known: what is done
  // between the two sees the state between them.
  bool mayGoAhead() const {
    const Started &last = started.back();
    return program.first().takesAhead() && started.size() == 1 && last.number + last.count < *config.steps &&
           !stops() && !last.evaluates && !(plateau && last.endsEpoch) && !last.saves && !last.asks && !options.explain;
  }

  // Waits for the first that was started.
  std::span<const StepResult> finishFirst() {
    const Started call = started.front();
    if (call.epoch != epoch) {
      epoch = call.epoch;
      outcome.epochLoss = 0;
      epochSteps = 0;
    }
    std::span<const StepResult> results = inStep(call.number, call.count, [&] { return program.finish(); });
    started.pop_front();
    return results;
  }

  // Of communication that nothing hid, since it was asked last, each of so many steps' part; of one rank nothing.
  std::optional<double> exposedSeconds(int64_t steps) {
    sprig_rt_group_times now = program.communication();
    if (!now.collectives) return std::nullopt;
    return double(now.exposed_ns - std::exchange(exposedBefore, now.exposed_ns)) * 1e-9 / double(steps);
  }

  training::StepMetrics endStep(const StepResult &result) {
    outcome.time.add(epoch, result);
    outcome.simulatedSeconds += result.simulatedSeconds;
    training::StepMetrics line;
    line.step = outcome.steps++;
    ++outcome.done;
    line.loss = result.loss;
    line.gradNorm = result.gradNorm;
    line.lr = float(training::lrAt(config.schedule, plateau ? plateau->rate() : config.optimizer.lr, line.step));
    if (plateau) plateau->addStep(result.loss);
    line.waitSeconds = std::chrono::duration<double>(result.ready - result.begin).count();
    outcome.epochLoss += double(result.loss);
    ++epochSteps;
    return line;
  }

  void submit(int64_t count) {
    if (!loaded) return program.submit(data, indices, count);
    auto begin = Clock::now();
    ahead.clear();
    for (int64_t step = 0; step < count; ++step) ahead.push_back(loaded->next());
    program.submit(ahead, begin);
  }

  // At the end of every evalEvery-th epoch, and of the run; `batches` is behind the step.
  bool evaluationIsDueAfter(int64_t step) const {
    if (!evaluation) return false;
    return step + 1 == *config.steps || evaluationEndsEpoch();
  }
  bool evaluationEndsEpoch() const {
    bool epochEnds = batches.position().index == 0;
    return epochEnds && config.evalEvery > 0 && batches.position().epoch % config.evalEvery == 0;
  }

  // An evaluation at the end of the run alone does not count: a longer run has none there.
  void endEpoch(const Started &call) {
    if (plateau->endEpoch(call.measures ? &*outcome.evaluation : nullptr)) program.start(plateau->rate(), config.seed);
  }

  void evaluate(training::StepMetrics &line) {
    outcome.evaluation = program.evaluate(*evaluation);
    line.evalLoss = outcome.evaluation->loss();
    if (outcome.evaluation->counted > 0) line.evalAccuracy = outcome.evaluation->accuracy();
  }

  void save() {
    auto start = Clock::now();
    asked = outcome.steps;
    WholeState state = program.state();
    if (!writer) return;
    // Lines first: a run that goes on from this checkpoint needs those of its steps.
    flushMetrics();
    checkpoints::Manifest manifest = options.identity;
    manifest.step = outcome.steps;
    manifest.epoch = batches.position().epoch;
    manifest.index = batches.position().index;
    std::vector<data::Array> beside;
    if (plateau) beside = plateau->arrays();
    addViews(state.arrays, beside);
    writer->save(manifest, state.arrays);
    saved = outcome.steps;
    outcome.checkpointSeconds += std::chrono::duration<double>(Clock::now() - start).count();
  }

  [[noreturn]] void reportNonFinite(const training::StepMetrics &line) {
    flushMetrics();
    const char *value = std::isnan(line.loss) ? "NaN" : line.loss > 0 ? "infinity" : "-infinity";
    std::string text = "step " + std::to_string(line.step) + ": the loss is " + value + " (learning rate " +
                       formatDouble(double(line.lr)) + ")";
    if (options.explain) {
      std::string found = options.explain(before, indices);
      text += found.empty() ? "\nnote: the reference interpreter finds no such value in this step"
                            : "\nnote: first not finite: " + found;
    } else {
      text += "\nnote: --debug-nan names the operation";
    }
    if (writer && saved > 0) text += "\nnote: the checkpoint of step " + std::to_string(saved) + " is from before";
    runtimeError(text);
  }
};

} // namespace

void addViews(std::vector<checkpoints::ArrayView> &views, const std::vector<data::Array> &arrays) {
  for (const data::Array &array : arrays) views.push_back({array.name, array.dtype, array.shape, array.bytes});
}

std::vector<data::Array> copyState(const std::vector<checkpoints::ArrayView> &views) {
  std::vector<data::Array> arrays;
  for (auto &view : views)
    arrays.push_back({view.name, view.dtype, view.shape, {view.bytes.begin(), view.bytes.end()}});
  return arrays;
}

TrainOutcome trainLoop(TrainRanks &program, const TrainData &data, const TrainData *evaluation,
                       const TrainLoopOptions &options) {
  return Loop(program, data, evaluation, options).run();
}

} // namespace sprig::cli
