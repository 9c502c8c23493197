#include "tools/sprig/train/TrainRun.h"
#include "lib/Training/RunChart.h"
#include "runtime/collective/Shares.h"
#include "sprig/error.h"
#include "sprig/rt/memory.h"
#include "tools/sprig/Interrupt.h"
#include "tools/sprig/RankWeights.h"
#include "tools/sprig/compile/PlacementReport.h"
#include "tools/sprig/train/AutoDevices.h"
#include "tools/sprig/train/BatchScaling.h"
#include "tools/sprig/train/MeasuredShares.h"
#include "tools/sprig/train/ResumePoint.h"
#include "tools/sprig/train/TrainNote.h"
#include "tools/sprig/train/TrainProgress.h"
#include "tools/sprig/train/TrainResults.h"
#include "tools/sprig/train/TrainRunners.h"
#include "tools/sprig/train/TrainSet.h"
#include "tools/sprig/train/TrainSizes.h"
#include "tools/sprig/train/TrainSummary.h"
#include "tools/sprig/train/TrainSweep.h"
#include <chrono>
#include <filesystem>

namespace fs = std::filesystem;
namespace sprig::cli {
namespace {

std::string summaryOf(const training::TrainConfig &config) {
  std::string text = std::string(training::name(config.optimizer.kind)) + ", lr " + formatDouble(config.optimizer.lr) +
                     ", batch " + std::to_string(config.batch);
  if (config.accumulate > 1) text += " x " + std::to_string(config.accumulate);
  return text + ", seed " + std::to_string(config.seed);
}

class Training {
public:
  explicit Training(const TrainOptions &given)
      : options(given), output(given.output), place(given.mesh.place(given.settings)), ranks(place.ranks),
        settings(settingsOfRank(given.settings, place)), withNorm(!given.metrics.empty()) {
    // Of processes the first alone says and writes what all of them know.
    if (!isFirst()) {
      setQuiet(true);
      options.output.clear();
      options.metrics.clear();
      options.plot.clear();
    }
  }

  void tellOthers(const std::string &why) const {
    if (program)
      program->tellOthers(why);
    else if (group)
      sprig_rt_group_fail(group.get(), SPRIG_RT_INVALID_ARGUMENT, why.c_str());
  }

  int run() {
    open(options.overrides);
    readData();
    choose(options.overrides);
    training::resolve(config, data.count());
    load();
    program->start(config.optimizer.lr, config.seed);
    TrainLoopOptions loop = loopOptions();
    TrainOutcome outcome = trainLoop(*program, data, evaluation ? &*evaluation : nullptr, loop);
    program->checkReplicas();
    // Of processes that share it, all put it together.
    WholeState state;
    if (writesState) state = program->state();
    addViews(state.arrays, outcome.scheduleState);
    if (!options.output.empty()) {
      checkpoint::Manifest manifest = loop.identity;
      manifest.step = outcome.steps;
      int64_t epoch = training::stepsPerEpoch(config, data.count());
      manifest.epoch = outcome.steps / epoch;
      manifest.index = outcome.steps % epoch * config.batch * config.accumulate;
      writeResult(options.output, model, program->first(), state.arrays, manifest);
    }
    if (!options.plot.empty()) training::writeRunChart(options.plot, title(), summaryOf(config), outcome.history);
    print(outcome);
    if (outcome.interrupted()) return exitCodeOf(outcome.signal);
    if (!outcome.unwritten.empty())
      throw Error(ErrorKind::runtime, outcome.unwritten + "\nnote: the training itself is done" +
                                          (options.output.empty() ? "" : ", its result is in " + options.output));
    return kDone;
  }

  // A run for each value, from the same start; what can use the program of the run before does.
  int sweep() {
    for (auto &[given, flag] :
         {std::pair(&options.output, "-o"), {&options.metrics, "--metrics"}, {&options.checkpoints, "--checkpoint"}})
      if (!given->empty()) throw Error(ErrorKind::usage, std::string(flag) + ": is of one run, not of a sweep");
    SweepRange range = parseSweep(options.sweep);
    std::vector<SweepResult> results;
    std::vector<data::Array> initial;
    std::optional<training::TrainConfig> compiled;
    int interrupted = 0; // the exit code of what ended the sweep
    for (const std::string &value : range.values) {
      std::vector<training::Override> overrides = options.overrides;
      overrides.push_back({"--sweep " + range.field + "=" + value, range.path, value});
      if (results.empty()) {
        open(overrides);
        readData();
        choose(overrides);
      } else {
        readConfig(overrides);
      }
      training::resolve(config, data.count());
      SweepResult result{value, std::nullopt, "", 0, false};
      if (!compiled || !sameSteps(*compiled, config) || compiled->evalBatch != config.evalBatch) {
        load();
        result.compiled = model.kind != ModelKind::package;
        initial = copyState(program->state().arrays);
        compiled = config;
      }
      sprig_rt_memory_reset_peak();
      program->restore(initial);
      program->start(config.optimizer.lr, config.seed);
      try {
        result.outcome = trainLoop(*program, data, evaluation ? &*evaluation : nullptr, loopOptions());
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
      plotSweep(options.plot, title(),
                std::string(training::name(config.optimizer.kind)) + ", " + std::to_string(results.size()) +
                    " runs of " + std::to_string(*config.steps) + " steps",
                range, results);
    if (isFirst()) printSweep(range, results, compileSeconds, options.common.json());
    return interrupted ? interrupted : kDone;
  }

private:
  TrainOptions options;
  std::string output; ///< of all ranks, which the first writes
  RankPlace place;
  int ranks;                             ///< that train together
  Settings settings;                     ///< of one of them
  bool withNorm;                         ///< whether steps compute the norm of gradients
  std::shared_ptr<sprig_rt_group> group; ///< of processes
  Model model;
  training::TrainConfig config;
  std::optional<TrainNote> note;     ///< of a package
  std::vector<Placement> placements; ///< with --explain-placement
  std::vector<InputSpec> specs;
  TrainData data;
  std::optional<TrainData> evaluation;
  TrainRequest request;
  std::optional<TrainRanks> program;
  std::vector<std::string> trainable;
  double compileSeconds = 0;
  bool writesState = false;     ///< whether the output is a checkpoint
  double rateFactor = 1;        ///< of --lr-scaling
  std::string chosen;           ///< of --devices auto
  std::vector<int64_t> weights; ///< of the ranks' shares; none: even ones
  std::string measured;         ///< of --shares auto
  int64_t stepsPerCall = 1;

  bool isFirst() const { return place.rank == 0; }
  // Whether ranks have pieces of the optimizer's state.
  bool sharesState() const {
    if (model.kind == ModelKind::package) return note && note->zero;
    return ranks > 1 && options.mesh.zero;
  }
  // Ranks of this process.
  int ranksHere() const { return place.isProcess ? 1 : ranks; }

  // Ranks that something else counts take what --devices auto is for them.
  bool choosesDevices() const { return options.choosesDevices && !place.isProcess && options.mesh.mesh.empty(); }

  void take(const AutoDevices &found) {
    chosen = found.devices;
    options.settings.devices = {chosen};
    place = options.mesh.place(options.settings);
    ranks = place.ranks;
    settings = settingsOfRank(options.settings, place);
    settings.checkDevicesCompute();
    inform("devices: " + chosen + ", " + found.why + "; the bits of results depend on it, --devices '" + chosen +
           "' keeps to it");
  }

  /// Of all ranks that are threads of this process.
  int allThreads() const {
    int threads = options.settings.laneCount();
    return threads ? threads : sprig_rt_default_threads();
  }
  /// Of each of them, where they differ.
  std::vector<int> threadsOfRanks() const {
    if (place.isProcess || weights.empty()) return {};
    return threadsByShares(allThreads(), weights, ranks);
  }

  void takeShares() {
    request.weights = weights = options.mesh.weights(ranks);
    if (!options.mesh.measuresShares()) return;
    // Of threads each has as many, where they divide; what a sweep measures once stays.
    if (place.isProcess && measured.empty()) {
      if (!group) group = processAsRank();
      std::vector<double> speeds = measureSpeeds(model, request, settings, runnerOptions(), data, group.get());
      measured = textOf(weightsOf(speeds), ranks);
      inform("shares: " + measured + ", as steps of one rank take " + speedsText(speeds) +
             "; the bits of results depend on it, --shares " + measured + " keeps to it");
    } else if (int threads = allThreads(); measured.empty() && threads > ranks && threads % ranks) {
      std::vector<int64_t> own;
      for (int rank = 0; rank < ranks; ++rank)
        own.push_back(rt::collective::shareOf(threads, uint32_t(ranks), {}, uint32_t(rank)).size());
      measured = textOf(own, ranks);
      inform("shares: " + measured + ", as are the threads of the ranks; the bits of results depend on it, --shares " +
             measured + " keeps to it");
    } else if (measured.empty()) {
      measured = textOf({}, ranks);
      inform("shares: even, as ranks of one process have as many threads each");
    }
    request.weights = weights = parseWeights(measured, ranks);
  }

  // Of a model, when its samples are known.
  void choose(std::span<const training::Override> overrides) {
    if (!choosesDevices() || model.kind == ModelKind::package) return;
    int64_t least = config.batch;
    for (int64_t size : partSizes(data.count(), config.batch * config.accumulate, config.dropLast))
      if (int64_t rest = size % config.batch) least = std::min(least, rest);
    take(chooseDevices(model, config, least, options));
    readConfig(overrides); // whose batch may be that of ranks
  }

  void open(std::span<const training::Override> overrides) {
    settings.checkDevicesCompute();
    stepsPerCall = options.stepsPerCall.count(settings);
    if (stepsPerCall > 1 && options.debugNan)
      throw Error(ErrorKind::usage, "--debug-nan: runs steps one by one, and --steps-per-call " +
                                        std::to_string(stepsPerCall) + " asks for several in a call");
    model = openModel(options.model);
    if (choosesDevices() && model.kind == ModelKind::package) take(devicesOf(model));
    writesState = !output.empty() && resultKind(output, model) == ResultKind::checkpoint;
    if (!options.output.empty() && !writesState) checkWritable(options.output);
    if (!options.plot.empty()) checkWritable(options.plot);
    if (model.kind != ModelKind::package) return readConfig(overrides);
    options.mesh.refuseChoicesOf(options.model);
    if (options.mesh.measuresShares() || !options.mesh.weights(ranks).empty())
      options.mesh.refuseSharesOf(options.model);
    std::vector<Runner> runners;
    runners.push_back(compileAndLoad(model, {}, settings));
    note = trainNoteOf(runners.front());
    if (options.mesh.zero && ranks > 1 && !sharesState())
      throw Error(ErrorKind::badInput, "--zero 1: the steps of " + options.model +
                                           " have all of the optimizer's state on each rank\nnote: " +
                                           "'sprig compile --train --zero 1' makes packages whose ranks share it");
    readConfig(overrides);
    for (int rank = 1; rank < ranksHere(); ++rank) runners.push_back(runners.front().another(runnerOptions()));
    begin(std::move(runners));
  }

  RunnerOptions runnerOptions() const {
    return {settings.laneCount(), settings.runtimeDevice(), settings.links, settings.ownMemory};
  }

  // What all-reduces of the ranks are expected to take, and how ranks agree on what follows from it.
  void expectCollectives() {
    request.bucketBytes = options.mesh.bucketBytes();
    request.factors = options.mesh.factorPolicy();
    request.onOneMachine = place.isOnOneMachine();
    if (ranks == 1) return;
    if (!place.isProcess) {
      request.link = givenOr(linkOfThreads(ranks, settings.laneCount()), options.settings, ranks);
      return;
    }
    if (!group) group = processAsRank();
    request.link = givenOr(measureLink(group.get(), settings.laneCount()), options.settings, ranks);
    request.agreeOnBucket = [this](int64_t bytes) { return ofFirstRank(group.get(), bytes); };
    request.agreeOnTurn = [this](int64_t turn) { return ofFirstRank(group.get(), turn); };
  }

  // Runners by rank.
  void begin(std::vector<Runner> runners) {
    program.reset(); // gives its threads back first
    if (ranks == 1) {
      program.emplace(std::move(runners.front()));
      return;
    }
    if (place.isProcess) {
      if (!group) group = processAsRank();
      runners.front().join(group);
      program.emplace(std::move(runners.front()), share());
      return;
    }
    joinAsThreads(runners);
    program.emplace(std::move(runners), share());
  }

  RankShare share() const { return {place.isProcess ? place.rank : 0, ranks, config.batch, sharesState(), weights}; }

  std::string title() const { return config.net.empty() ? fs::path(options.model).stem().string() : config.net; }

  // A package brings the configuration that it was compiled from.
  void readConfig(std::span<const training::Override> overrides) {
    readGivenConfig(overrides);
    rateFactor = scaleBatch(config, options, model, ranks);
  }
  void readGivenConfig(std::span<const training::Override> overrides) {
    if (!options.config.empty())
      config = training::readTrainConfig(options.config, overrides);
    else if (note)
      config = training::parseTrainConfig(training::toJson(note->config), options.model, overrides);
    else
      throw Error(ErrorKind::usage, "--config is missing: a JSON file (--config-help prints its schema)");
  }

  void readData() {
    if (model.kind == ModelKind::package) {
      for (const TensorSpec &spec : program->first().inputs()) {
        InputSpec input{spec.name, std::string(data::name(spec.dtype)), {{std::nullopt, "batch"}}, true};
        for (int64_t dim : spec.shape) input.dims.push_back({dim, ""});
        specs.push_back(input);
      }
      specs.pop_back(); // the targets
    } else {
      specs = inputsOf(model);
    }
    data = openTrainData(options.x, options.y, specs, "--x", options.model);
    if (options.evalX.empty() != options.evalY.empty())
      throw Error(ErrorKind::usage, options.evalX.empty() ? "--eval-y without --eval-x" : "--eval-x without --eval-y");
    if (!options.evalX.empty())
      evaluation = openTrainData(options.evalX, options.evalY, specs, "--eval-x", options.model);
  }

  void load() {
    if (model.kind == ModelKind::package) {
      if (note) {
        checkAgrees(*note, config, data.count(), options.model);
        trainable = note->trainable;
      }
      checkTargetsOf(note ? note->classes : std::vector<int64_t>());
      checkSizes(options.model, program->first(), config, data.count(),
                 evaluation ? std::optional(evaluation->count()) : std::nullopt);
      takeStepsPerCall();
      return;
    }
    auto start = std::chrono::steady_clock::now();
    request.config = config;
    request.steps = partSizes(data.count(), config.batch * config.accumulate, config.dropLast);
    if (evaluation)
      request.evaluations = partSizes(evaluation->count(), config.evalBatch.value_or(config.batch), false);
    request.samples = data.count();
    request.withNorm = withNorm;
    request.allow = options.allow;
    request.ranks = ranks;
    request.rank = place.rank;
    if (ranks > 1) takeShares();
    expectCollectives();
    request.zero = options.mesh.zero;
    request.stepsPerCall = stepsPerCall;
    checkStepsPerCall(stepsPerCall, config, data.count());
    auto [compiled, runners] = loadTraining(model, request, ranksHere(), settings, runnerOptions(), threadsOfRanks());
    if (settings.explainPlacement && !options.common.json()) cli::explain(compiled.placements, nullptr);
    placements = std::move(compiled.placements);
    request.announce = false; // where a sweep compiles again
    trainable = compiled.trainable;
    begin(std::move(runners));
    checkTargetsOf(compiled.classes);
    compileSeconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (isVerbose()) {
      for (const PhaseTime &phase : compiled.phases)
        inform(phase.phase + ": " + formatNanoseconds(phase.milliseconds * 1e6));
      for (const std::string &text : {compiled.factors, compiled.communication})
        if (!text.empty()) inform("ranks: " + text);
    }
  }

  // A package takes the calls that it was compiled for, or single steps.
  void takeStepsPerCall() {
    int64_t there = program->first().stepsPerCall();
    const std::optional<int64_t> &given = options.stepsPerCall.given();
    if (given && *given != 1 && *given != there)
      throw Error(ErrorKind::badInput, "--steps-per-call " + std::to_string(*given) + ": " + options.model + " has " +
                                           (there == 1 ? "calls of single steps alone"
                                                       : "calls of " + std::to_string(there) + " steps, and of one"));
    stepsPerCall = given.value_or(options.debugNan ? 1 : there);
  }

  void checkTargetsOf(const std::vector<int64_t> &classes) const {
    const TensorSpec &targets = program->first().inputs().back();
    for (const TrainData *each : sets()) checkTargets(*each, targets.dtype, targets.shape, classes, config.losses);
  }

  std::vector<const TrainData *> sets() const {
    std::vector<const TrainData *> result = {&data};
    if (evaluation) result.push_back(&*evaluation);
    return result;
  }

  TrainLoopOptions loopOptions() {
    TrainLoopOptions loop;
    loop.config = config;
    loop.metrics = options.metrics;
    loop.checkpoints = options.checkpoints;
    loop.writesCheckpoints = isFirst();
    loop.every = options.every;
    loop.logEvery = options.logEvery;
    loop.checkEvery = options.checkReplicas;
    loop.keep = options.keep;
    loop.stepsPerCall = stepsPerCall;
    loop.loader = options.loader;
    loop.keepHistory = !options.plot.empty();
    loop.identity.seed = config.seed;
    loop.identity.configDigest = configDigest(config, data.count());
    loop.identity.modelDigest = modelDigest(model);
    loop.resume = findCheckpoint(options, loop.identity);
    if (options.debugNan)
      loop.explain = [this](const std::vector<data::Array> &state, std::span<const int64_t> samples) {
        return explain(state, samples);
      };
    return loop;
  }

  std::string explain(const std::vector<data::Array> &state, std::span<const int64_t> samples) {
    if (model.kind == ModelKind::package) return "";
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
    return findNonFinite(model, request, settings, state, arrays);
  }

  void print(const TrainOutcome &outcome) const {
    if (!isFirst()) return;
    TrainSummary summary{{options, config, outcome, *program}};
    summary.stepsPerEpoch = training::stepsPerEpoch(config, data.count());
    summary.ranks = ranks;
    summary.isOfProcesses = place.isProcess;
    summary.weights = weights;
    summary.rateFactor = rateFactor;
    summary.sharesState = sharesState();
    summary.devices = chosen;
    summary.compileSeconds = compileSeconds;
    summary.trainable = trainable;
    printSummary(summary, settings.explainPlacement ? &placements : nullptr);
  }
};

} // namespace

int runTraining(const TrainOptions &options) {
  loaderOptions(options.loader); // what is wrong with it before anything is compiled
  if (!options.sweep.empty() && options.settings.explainPlacement && options.common.json())
    throw Error(ErrorKind::usage, "--explain-placement: with --format json it goes with one run, not with --sweep");
  Training training(options);
  try {
    return options.sweep.empty() ? training.run() : training.sweep();
  } catch (const std::exception &error) {
    training.tellOthers(error.what());
    throw;
  }
}

} // namespace sprig::cli
