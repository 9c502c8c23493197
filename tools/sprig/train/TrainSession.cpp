#include "tools/sprig/train/TrainSession.h"
#include "lib/Data/File.h"
#include "lib/Training/StateNames.h"
#include "runtime/collective/Shares.h"
#include "tools/sprig/RankWeights.h"
#include "tools/sprig/Report.h"
#include "tools/sprig/quantize/QuantizeModel.h"
#include "tools/sprig/train/AutoDevices.h"
#include "tools/sprig/train/BatchScaling.h"
#include "tools/sprig/train/MeasuredShares.h"
#include "tools/sprig/train/TrainResults.h"
#include "tools/sprig/train/TrainRunners.h"
#include "tools/sprig/train/TrainSet.h"
#include "tools/sprig/train/TrainSizes.h"
#include <chrono>
#include <filesystem>

namespace fs = std::filesystem;
namespace sprig::cli {

TrainSession::TrainSession(const TrainOptions &given)
    : options(given), output(given.output), place(given.mesh.place(given.settings)), ranks(place.ranks),
      settings(settingsOfRank(given.settings, place)), withNorm(!given.metrics.empty() || !given.tensorboard.empty()) {
  // Of processes the first alone says and writes what all of them know.
  if (isFirst()) return;
  setQuiet(true);
  options.output.clear();
  options.metrics.clear();
  options.tensorboard.clear();
  options.plot.clear();
}

void TrainSession::tellOthers(const std::string &why) const {
  if (program)
    program->tellOthers(why);
  else if (group)
    sprig_rt_group_fail(group.get(), SPRIG_RT_INVALID_ARGUMENT, why.c_str());
}

void TrainSession::makeQuantizeAware() {
  if (options.quantizeAware.empty()) {
    if (options.weightBits) badUse("--weight-bits: goes with --quantize-aware DIR");
    return;
  }
  if (model.kind != ModelKind::onnx || options.model == "-")
    badUse("--quantize-aware: takes an ONNX file, and " + options.model + " is " +
           (options.model == "-"               ? "standard input"
            : model.kind == ModelKind::package ? "a package"
                                               : "MLIR text"));
  QuantizeOptions how;
  how.settings = settings;
  how.model = options.model;
  how.data = options.quantizeAware;
  how.bits = options.weightBits.value_or(8);
  how.trainable = true;
  QuantizeReport report = quantizeModel(how);
  for (const std::string &note : report.notes) inform(note);
  inform("quantisation-aware: " + std::to_string(report.layers.size()) + " layers, weights of " +
         std::to_string(how.bits) + " bits; " + std::to_string(report.tensors.size()) + " tensors calibrated on " +
         std::to_string(report.samples) + " samples");
  model.text = std::move(report.bytes);
  model.parsed.reset();
  model.foldsWeights = true;
}

// Of a package, whose number of ranks is its own.
void TrainSession::checkRanks(const Runner &runner) const {
  for (size_t entry = 0; entry < runner.entryCount(); ++entry) {
    sprig_rt_entry_info info = runner.entryInfo(entry);
    int own = std::max(1, int(runner.ranks(entry).ranks));
    if (info.name != training::kStepEntry || own == ranks) continue;
    std::string expected = own == 1 ? "; 'sprig compile --train CONFIG --mesh data=" + std::to_string(ranks) +
                                          "' makes packages whose steps they take together"
                                    : "; expected --mesh data=" + std::to_string(own);
    badInput(model.path + ": has steps of " + std::to_string(own) +
             (own == 1 ? " rank, and there are " : " ranks, and there is ") + std::to_string(ranks) + expected);
  }
}

void TrainSession::open(std::span<const training::Override> overrides) {
  settings.checkDevicesCompute();
  stepsPerCall = options.stepsPerCall.count(settings);
  if (stepsPerCall > 1 && options.debugNan)
    badUse("--debug-nan: runs steps one by one, and --steps-per-call " + std::to_string(stepsPerCall) +
           " asks for several in a call");
  model = openModel(options.model);
  makeQuantizeAware();
  if (choosesDevices() && model.kind == ModelKind::package) take(devicesOf(model));
  writesState = !output.empty() && resultKind(output, model) == ResultKind::checkpoint;
  if (!options.output.empty() && !writesState) sprig::data::checkWritable(options.output);
  if (!options.plot.empty()) sprig::data::checkWritable(options.plot);
  if (model.kind != ModelKind::package) return readConfig(overrides);
  options.mesh.refuseChoicesOf(options.model);
  if (options.mesh.measuresShares() || !options.mesh.weights(ranks).empty()) options.mesh.refuseSharesOf(options.model);
  std::vector<Runner> runners;
  runners.push_back(compileAndLoad(model, {}, settings));
  checkRanks(runners.front());
  note = trainNoteOf(runners.front());
  if (options.mesh.sharesState() && ranks > 1 && !sharesState())
    badInput("--zero 1: the steps of " + options.model + " have all of the optimizer's state on each rank\nnote: " +
             "'sprig compile --train --zero 1' makes packages whose ranks share it");
  readConfig(overrides);
  RunnerOptions next = runnerOptions();
  for (int rank = 1; rank < ranksHere(); ++rank) {
    next.pinBehind(runners.back().threads());
    runners.push_back(runners.front().another(next));
  }
  begin(std::move(runners));
}

void TrainSession::readData() {
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
    badUse(options.evalX.empty() ? "--eval-y without --eval-x" : "--eval-x without --eval-y");
  if (!options.evalX.empty())
    evaluation = openTrainData(options.evalX, options.evalY, specs, "--eval-x", options.model);
}

void TrainSession::choose(std::span<const training::Override> overrides) {
  if (!choosesDevices() || model.kind == ModelKind::package) return;
  int64_t least = config.batch;
  for (int64_t size : partSizes(data.count(), config.batch * config.accumulate, config.dropLast))
    if (int64_t rest = size % config.batch) least = std::min(least, rest);
  take(chooseDevices(model, config, least, options));
  readConfig(overrides); // whose batch may be that of ranks
}

// A package brings the configuration that it was compiled from.
void TrainSession::readConfig(std::span<const training::Override> overrides) {
  readGivenConfig(overrides);
  rateFactor = scaleBatch(config, options, model, ranks);
}

void TrainSession::load() {
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
  if (evaluation) request.evaluations = partSizes(evaluation->count(), config.evalBatch.value_or(config.batch), false);
  request.samples = data.count();
  // Where gradients are clipped by value, the norm alone shows that one was not finite.
  request.withNorm = withNorm || (options.debugNan && config.gradClipValue);
  request.allow = options.allow;
  request.ranks = ranks;
  request.rank = place.rank;
  if (ranks > 1) takeShares();
  expectCollectives();
  request.stepsPerCall = stepsPerCall;
  checkStepsPerCall(stepsPerCall, config, data.count());
  auto [compiled, runners] = loadTraining(model, request, ranksHere(), settings, runnerOptions(), threadsOfRanks());
  if (settings.explainPlacement && !options.common.json()) cli::explain(compiled.placements, nullptr);
  placements = std::move(compiled.placements);
  collectives = std::move(compiled.collectives);
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

std::string TrainSession::title() const {
  return config.net.empty() ? fs::path(options.model).stem().string() : config.net;
}

bool TrainSession::sharesState() const {
  if (model.kind == ModelKind::package) return note && note->zero;
  return ranks > 1 && options.mesh.sharesState();
}

// Ranks that something else counts take what --devices auto is for them.
bool TrainSession::choosesDevices() const {
  return options.choosesDevices && !place.isProcess && options.mesh.mesh.empty();
}

void TrainSession::take(const AutoDevices &found) {
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
int TrainSession::allThreads() const {
  int threads = options.settings.laneCount();
  return threads ? threads : sprig_rt_default_threads();
}

/// Of each of them, where they differ.
std::vector<int> TrainSession::threadsOfRanks() const {
  if (place.isProcess || weights.empty()) return {};
  return threadsByShares(allThreads(), weights, ranks);
}

void TrainSession::takeShares() {
  request.weights = weights = options.mesh.weights(ranks);
  if (!options.mesh.measuresShares()) return;
  // Of threads each has as many, where they divide; what a sweep measures once stays.
  if (place.isProcess && measured.empty()) {
    joinGroup();
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

RunnerOptions TrainSession::runnerOptions() const { return runnerOptionsOf(settings); }

// Flags by which ranks meet at other collectives: where they differ, the first of these would be told instead.
void TrainSession::joinGroup() {
  if (group) return;
  group = processAsRank();
  const training::Fact flags[] = {{"--bucket", options.mesh.bucket},
                                  {"--factors", options.mesh.factors},
                                  {"--shares", options.mesh.measuresShares() ? "auto" : ""},
                                  {"--zero", std::to_string(options.mesh.sharesState())},
                                  {"--allow-gather", std::to_string(options.mesh.allowGather)},
                                  {"--steps-per-call", std::to_string(options.stepsPerCall.given().value_or(0))},
                                  {"--check-replicas", std::to_string(options.checkReplicas)}};
  const training::Fact *other = training::firstDifference(flags, [&](std::span<uint64_t> numbers) {
    check(sprig_rt_group_all_reduce(group.get(), SPRIG_RT_U64, SPRIG_RT_MAX, numbers.data(), numbers.size(),
                                    "beginning"));
  });
  if (!other) return;
  bool isGiven = !other->value.empty() && other->value != "0";
  badInput(std::string("the ranks do not begin alike: ") + other->what + " differs, " +
           (isGiven ? "here it is " + other->value : "here it is not given"));
}

// What all-reduces of the ranks are expected to take, and how ranks agree on what follows from it.
void TrainSession::expectCollectives() {
  static_cast<StepChoices &>(request) = options.mesh.choices();
  request.onOneMachine = place.isOnOneMachine();
  if (ranks == 1) return;
  if (!place.isProcess) {
    request.link = givenOr(linkOfThreads(ranks, settings.laneCount()), options.settings, ranks);
    return;
  }
  joinGroup();
  request.link = givenOr(measureLink(group.get(), settings.laneCount()), options.settings, ranks);
  request.agreeOnBucket = [this](int64_t bytes) { return ofFirstRank(group.get(), bytes); };
  request.agreeOnTurn = [this](int64_t turn) { return ofFirstRank(group.get(), turn); };
}

// Runners by rank.
void TrainSession::begin(std::vector<Runner> runners) {
  program.reset(); // gives its threads back first
  if (ranks == 1) {
    program.emplace(std::move(runners.front()));
    return;
  }
  if (place.isProcess) {
    joinGroup();
    runners.front().join(group);
    program.emplace(std::move(runners.front()), share());
    return;
  }
  joinAsThreads(runners);
  program.emplace(std::move(runners), share());
}

RankShare TrainSession::share() const { return {place.isProcess ? place.rank : 0, ranks, config.batch, weights}; }

void TrainSession::readGivenConfig(std::span<const training::Override> overrides) {
  if (!options.config.empty())
    config = training::readTrainConfig(options.config, overrides);
  else if (note)
    config = training::parseTrainConfig(training::toJson(note->config), options.model, overrides);
  else
    badUse("--config is missing: a JSON file (--config-help prints its schema)");
}

// A package takes the calls that it was compiled for, or single steps.
void TrainSession::takeStepsPerCall() {
  int64_t there = program->first().stepsPerCall();
  const std::optional<int64_t> &given = options.stepsPerCall.given();
  if (given && *given != 1 && *given != there)
    badInput("--steps-per-call " + std::to_string(*given) + ": " + options.model + " has " +
             (there == 1 ? "calls of single steps alone" : "calls of " + std::to_string(there) + " steps, and of one"));
  stepsPerCall = given.value_or(options.debugNan ? 1 : there);
}

void TrainSession::checkTargetsOf(const std::vector<int64_t> &classes) const {
  const TensorSpec &targets = program->first().inputs().back();
  for (const TrainData *each : sets()) checkTargets(*each, targets.dtype, targets.shape, classes, config.losses);
}

std::vector<const TrainData *> TrainSession::sets() const {
  std::vector<const TrainData *> result = {&data};
  if (evaluation) result.push_back(&*evaluation);
  return result;
}

} // namespace sprig::cli
