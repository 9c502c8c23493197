#include "tools/sprig/train/TrainRun.h"
#include "lib/TrainLoop/RunFiles.h"
#include "lib/TrainLoop/Progress.h"
#include "lib/TrainLoop/ResumePoint.h"
#include "lib/TrainLoop/RunChart.h"
#include "lib/Training/StateNames.h"
#include "sprig/error.h"
#include "sprig/rt/memory.h"
#include "tools/sprig/Interrupt.h"
#include "tools/sprig/Report.h"
#include "tools/sprig/train/TrainResults.h"
#include "tools/sprig/train/TrainSession.h"
#include "tools/sprig/train/TrainSummary.h"
#include "tools/sprig/train/TrainSweep.h"
#include <algorithm>

namespace sprig::cli {
namespace {

std::string summaryOf(const training::TrainConfig &config) {
  std::string text = std::string(training::name(config.optimizer.kind)) + ", lr " + formatDouble(config.optimizer.lr) +
                     ", batch " + std::to_string(config.batch);
  if (config.accumulate > 1) text += " x " + std::to_string(config.accumulate);
  return text + ", seed " + std::to_string(config.seed);
}

/// One run, or several from the same start, of a session.
class TrainingRuns {
public:
  explicit TrainingRuns(TrainSession &session)
      : session(session), options(session.options), config(session.config), data(session.data),
        evaluation(session.evaluation), program(session.program) {}

  int run() {
    session.open(options.overrides);
    session.readData();
    session.choose(options.overrides);
    training::resolve(config, data.count());
    session.load();
    program->start(config.optimizer.lr, config.seed);
    checkpoints::Manifest manifest = identity();
    training::LoopResult outcome = train(manifest, findCheckpoint(manifest));
    program->checkReplicas();
    // Of processes that share it, all put it together.
    WholeState state;
    if (session.writesState) state = program->state();
    training::addViews(state.arrays, outcome.state);
    if (!options.output.empty()) {
      manifest.step = outcome.steps;
      int64_t epoch = training::stepsPerEpoch(config, data.count());
      manifest.epoch = outcome.steps / epoch;
      manifest.index = outcome.steps % epoch * config.batch * config.accumulate;
      writeResult(options.output, session.model, program->first(), state.arrays, manifest);
    }
    print(outcome);
    if (!options.plot.empty()) try {
        training::writeRunChart(options.plot, session.title(), summaryOf(config), history);
      } catch (const Error &error) {
        outcome.unwritten.push_back(error.what());
      }
    if (outcome.interrupted()) return exitCodeOf(outcome.signal);
    if (outcome.unwritten.empty()) return kDone;
    std::string text;
    for (const std::string &one : outcome.unwritten) text += (text.empty() ? "" : "\nerror: ") + one;
    runtimeError(text + "\nnote: the training itself is done" +
                 (options.output.empty() ? "" : ", its result is in " + options.output));
  }

  // A run for each value, from the same start; what can use the program of the run before does.
  int sweep() {
    for (auto &[given, flag] : {std::pair(&options.output, "-o"),
                                {&options.metrics, "--metrics"},
                                {&options.tensorboard, "--tensorboard"},
                                {&options.checkpoints, "--checkpoint"}})
      if (!given->empty()) badUse(std::string(flag) + ": is of one run, not of a sweep");
    SweepRange range = parseSweep(options.sweep);
    std::vector<SweepResult> results;
    std::vector<data::Array> initial;
    std::optional<training::TrainConfig> compiled;
    int interrupted = 0; // the exit code of what ended the sweep
    for (const std::string &value : range.values) {
      std::vector<training::Override> overrides = options.overrides;
      overrides.push_back({"--sweep " + range.field + "=" + value, range.path, value});
      if (results.empty()) {
        session.open(overrides);
        session.readData();
        session.choose(overrides);
      } else {
        session.readConfig(overrides);
      }
      training::resolve(config, data.count());
      SweepResult result{value, std::nullopt, "", 0, false};
      if (!compiled || !sameSteps(*compiled, config) || compiled->evalBatch != config.evalBatch) {
        session.load();
        result.compiled = session.model.kind != ModelKind::package;
        initial = training::copyState(program->state().arrays);
        compiled = config;
      }
      sprig_rt_memory_reset_peak();
      program->restore(initial);
      program->start(config.optimizer.lr, config.seed);
      try {
        result.outcome = train(identity(), std::nullopt);
        if (result.outcome->interrupted()) interrupted = exitCodeOf(result.outcome->signal);
        sprig_rt_memory_info memory;
        sprig_rt_memory_describe(&memory);
        result.memoryBytes = memory.peak;
      } catch (const Error &error) {
        if (error.kind() != ErrorKind::runtime) throw;
        result.failure = std::string(error.what()).substr(0, std::string(error.what()).find('\n'));
      }
      results.push_back(std::move(result));
      if (interrupted) break;
    }
    if (!options.plot.empty())
      plotSweep(options.plot, session.title(),
                std::string(training::name(config.optimizer.kind)) + ", " + std::to_string(results.size()) +
                    " runs of " + std::to_string(*config.steps) + " steps",
                range, results);
    if (session.isFirst()) printSweep(range, results, session.compileSeconds, options.common.json());
    return interrupted ? interrupted : kDone;
  }

private:
  TrainSession &session;
  const TrainOptions &options;
  training::TrainConfig &config;
  const TrainData &data;
  const std::optional<TrainData> &evaluation;
  std::optional<TrainRanks> &program;

  std::vector<training::StepMetrics> history; ///< for the plot

  const TrainData *evaluated() const { return evaluation ? &*evaluation : nullptr; }

  checkpoints::Manifest identity() const {
    checkpoints::Manifest identity;
    identity.seed = config.seed;
    training::identifyConfig(config, data.count(), identity);
    const Model &model = session.model;
    identity.modelDigest = checkpoints::digest(model.text.empty() ? sprig::data::readText(model.path) : model.text);
    return identity;
  }

  std::optional<checkpoints::Checkpoint> findCheckpoint(const checkpoints::Manifest &identity) const {
    training::ResumeRequest request{.folder = options.checkpoints,
                                    .newest = options.resume == "true",
                                    .advice = "--resume",
                                    .where = "--resume: from where? give --checkpoint DIR, or --resume=DIR",
                                    .model = "model",
                                    .free = "steps, epochs, eval, early_stop, restore_best, remat and remat_layers"};
    if (!request.newest) request.from = options.resume;
    std::optional<checkpoints::Checkpoint> found = training::findCheckpoint(request, identity);
    if (found)
      inform("going on from step " + std::to_string(found->manifest.step));
    else if (request.newest)
      inform("no checkpoint in " + options.checkpoints + " yet: starting at step 0");
    return found;
  }

  // Whether there are data to evaluate on is no part of a configuration, and rates may go by that.
  void checkMeasure(const checkpoints::Checkpoint &from) const {
    if (config.schedule.kind != training::ScheduleKind::plateau) return;
    auto has = [&](std::string_view prefix) {
      return std::any_of(from.arrays.begin(), from.arrays.end(),
                         [&](const auto &array) { return array.name.starts_with(prefix); });
    };
    // With early stop, the sums of losses may be there for that.
    const bool byLosses = has(training::kPlateauLoss) && !(evaluation && has(training::kEarlyStopPrefix));
    if (byLosses == !evaluation) return;
    const std::string of[] = {"evaluations", "the losses of its steps"};
    badInput("the checkpoint is of a run whose rate went by " + of[byLosses] + ", this one's goes by " + of[!byLosses]);
  }

  training::LoopResult train(const checkpoints::Manifest &identity, std::optional<checkpoints::Checkpoint> resumed) {
    training::LoopOptions how = loopOptions(config, evaluated());
    how.stepsPerCall = session.stepsPerCall;
    how.compareEvery = options.checkReplicas;
    how.checkpoints = options.checkpoints;
    how.checkpointEvery = options.every;
    how.keep = options.keep;
    how.writesCheckpoints = session.isFirst();
    how.identity = identity;
    how.explainHint = "--debug-nan names the operation";
    if (options.debugNan)
      how.explain = [this](const std::vector<data::Array> &state, const training::CallSamples &samples) {
        return explain(state, samples.batches.empty() ? std::span<const int64_t>(samples.indices)
                                                      : samples.batches[0].indices());
      };
    ProgramRunner runner(*program, data, evaluated(), config);
    TrainSource source(program->first(), data, config, options.loader);
    training::Loop loop(runner, *source, &runner, how);
    PrintWarnings warnings;
    training::Progress progress(*config.steps, (*source).epoch(), options.logEvery);
    if (!isQuiet()) loop.add(progress);
    loop.add(warnings);
    const std::optional<int64_t> from = resumed ? std::optional(resumed->manifest.step) : std::nullopt;
    if (resumed) {
      checkMeasure(*resumed);
      loop.resume(std::move(*resumed));
    }
    checkBeginning(*program, data, evaluated(), config, {from.value_or(0), session.collectives});
    std::optional<training::MetricsFile> metrics;
    if (!options.metrics.empty()) loop.add(metrics.emplace(loop, options.metrics, from));
    std::optional<training::TensorBoardFile> events;
    if (!options.tensorboard.empty()) loop.add(events.emplace(loop, options.tensorboard, from));
    training::RunHistory lines(metrics && !options.plot.empty() ? metrics->kept()
                                                                : std::vector<training::StepMetrics>());
    if (!options.plot.empty()) loop.add(lines);
    training::LoopResult outcome = loop.run();
    // A run that was over already is evaluated all the same.
    if (evaluation && outcome.done == 0 && !outcome.interrupted()) outcome.evaluation = runner.evaluate();
    history = std::move(lines.lines);
    return outcome;
  }

  std::string explain(const std::vector<data::Array> &state, std::span<const int64_t> samples) {
    if (session.model.kind == ModelKind::package) return "";
    std::vector<data::Array> arrays;
    for (size_t i = 0; i < program->first().inputs().size(); ++i) {
      TensorSpec spec = program->first().inputs()[i];
      bool isTarget = i + 1 == program->first().inputs().size();
      data::Array array{spec.name, spec.dtype, spec.shape, {}};
      array.shape.insert(array.shape.begin(), int64_t(samples.size()));
      array.bytes.resize(size_t(*data::byteSize(array.dtype, array.shape)));
      data::gather(isTarget ? *data.targets : data.inputs[i], samples, {spec.dtype, spec.shape, !isTarget},
                   array.bytes.data());
      arrays.push_back(std::move(array));
    }
    return findNonFinite(session.model, session.request, session.settings, state, arrays);
  }

  void print(const training::LoopResult &outcome) const {
    if (!session.isFirst()) return;
    TrainSummary summary{{options, config, outcome, *program}};
    summary.stepsPerEpoch = training::stepsPerEpoch(config, data.count());
    summary.ranks = session.ranks;
    summary.isOfProcesses = session.place.isProcess;
    summary.weights = session.weights;
    summary.rateFactor = session.rateFactor;
    summary.sharesState = session.sharesState();
    summary.devices = session.chosen;
    summary.compileSeconds = session.compileSeconds;
    summary.trainable = session.trainable;
    printSummary(summary, session.settings.explainPlacement ? &session.placements : nullptr);
  }
};

} // namespace

int runTraining(const TrainOptions &options) {
  loaderOptions(options.loader); // what is wrong with it before anything is compiled
  if (!options.sweep.empty() && options.settings.explainPlacement && options.common.json())
    badUse("--explain-placement: with --format json it goes with one run, not with --sweep");
  TrainSession session(options);
  try {
    TrainingRuns runs(session);
    return options.sweep.empty() ? runs.run() : runs.sweep();
  } catch (const std::exception &error) {
    session.tellOthers(error.what());
    throw;
  }
}

} // namespace sprig::cli
