// sprig profile: where the time of a model's calls goes.
#include "lib/Data/File.h"
#include "lib/Machine/Calibrate.h"
#include "lib/Machine/Gpu.h"
#include "lib/Training/StateNames.h"
#include "tools/sprig/Command.h"
#include "tools/sprig/inspect/MachineFile.h"
#include "tools/sprig/MeshFlags.h"
#include "tools/sprig/RankWeights.h"
#include "tools/sprig/Model.h"
#include "tools/sprig/profile/ProfileCompare.h"
#include "tools/sprig/profile/ProfileEntry.h"
#include "tools/sprig/profile/ProfileRows.h"
#include "tools/sprig/profile/ProfileMemory.h"
#include "tools/sprig/profile/ProfileRanks.h"
#include "tools/sprig/profile/ProfileReport.h"
#include "tools/sprig/profile/ProfileSession.h"
#include "tools/sprig/profile/RepeatedCopies.h"
#include "tools/sprig/run/RankedModel.h"
#include "tools/sprig/shard/ShardModel.h"
#include "tools/sprig/simulate/GivenTopology.h"
#include "tools/sprig/train/RankLink.h"
#include "tools/sprig/train/StepsPerCall.h"
#include "tools/sprig/train/TrainProgram.h"
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <iostream>
#include <memory>
#include <sstream>

namespace sprig::cli {
namespace {

struct ProfileOptions {
  CommonOptions common;
  Settings settings;
  std::string model, trace, svg, activities = "cpu";
  std::string entry, train;
  std::vector<std::string> allow;
  std::vector<std::string> compare;
  std::vector<std::string> inputs;
  SessionOptions session;
  uint64_t seed = 1;
  double bound = 1e-3;
  bool memory = false;
  ProfileView view;
  MeshFlags mesh;
  StepsPerCall stepsPerCall;
};

void checkOptions(const ProfileOptions &options) {
  options.settings.checkDevices();
  if (std::string device = options.settings.runtimeDevice(); device.find("null") != std::string::npos)
    badUse("--devices " + device + ": keeps a clock of its own, so there is nothing to profile");
  if (!(options.session.seconds > 0) || options.session.seconds > 3600)
    badUse("--seconds: expected more than 0, at most 3600");
  if (options.session.submit && options.session.loader.wanted())
    badUse("--submit together with --workers, --prefetch or --io-delay: expected calls that "
           "wait for their batches, or calls that are queued");
  loaderOptions(options.session.loader);
  std::stringstream list(options.activities);
  for (std::string activity; std::getline(list, activity, ',');) {
    if (activity == "cuda") {
      machine::GpuSearch found = machine::findGpus();
      if (found.gpus.empty()) unsupported("--activities cuda: " + found.describe());
    } else if (activity != "cpu") {
      badUse("--activities " + options.activities + ": '" + activity + "' is no activity; expected cpu or cuda");
    }
  }
}

int compare(const ProfileOptions &options) {
  if (!options.model.empty()) badUse("--compare takes two saved profiles and no model, got '" + options.model + "'");
  if (!(options.bound >= 0)) badUse("--bound: expected 0 or more");
  ProfileComparison comparison =
      compareProfiles(options.compare[0], options.compare[1], options.bound, options.common.json());
  if (options.common.json()) std::cout << toText(comparison.json) << '\n';
  return comparison.isSameResult ? kDone : kCheckFailed;
}

// What the calls were given and gave, so that a later comparison knows whether it compares like with like.
void addArrays(Json &json, const ProfileOptions &options, const std::map<std::string, data::Array> &inputs,
               const std::vector<data::Array> &outputs) {
  json["inputs"] = {{"seed", options.seed}, {"types", Json::array()}};
  for (auto &[name, array] : inputs) {
    json["inputs"]["types"].push_back(name + ": " + data::describe(array));
    // A seed says all of random ones.
    if (!options.inputs.empty()) json["inputs"]["digests"][name] = digestOf(array.bytes);
  }
  json["outputs"] = Json::array();
  for (const data::Array &array : outputs) json["outputs"].push_back(outputToJson(array));
}

// As a trace and as a picture, of the same calls.
void draw(const ProfileOptions &options, const Runner &runner, ProfileSession &session, const ProfileResult &result) {
  if (options.trace.empty() && options.svg.empty()) return;
  RecordedCalls calls = session.recordSome();
  if (!options.trace.empty()) {
    std::ostringstream trace;
    writeRecordedTrace(trace, runner, calls, result, session.entry());
    data::writeFile(options.trace, trace.str());
  }
  if (!options.svg.empty())
    data::writeFile(options.svg, recordedTimeline(runner, calls, result, session.entry(), options.model));
}

// What a profile of one rank has.
void refuseWithRanks(const ProfileOptions &options) {
  const ProfileView plain;
  std::pair<const char *, bool> given[] = {{"--submit", options.session.submit},
                                           {"--workers, --prefetch and --io-delay", options.session.loader.wanted()},
                                           {"--memory", options.memory},
                                           {"--svg", !options.svg.empty()},
                                           {"--group", options.view.group != plain.group},
                                           {"--sort", options.view.sort != plain.sort}};
  for (auto &[flag, isGiven] : given)
    if (isGiven) badUse(std::string(flag) + ": go with profiles of one rank, not with --mesh and --strategy");
}

// By the first of several ranks for all.
struct Chosen {
  std::optional<int64_t> bucket, turn;
};

// Buckets as `sprig train` has them: by what processes measure, else by the machine's model, and of one size on all
// ranks, the first one's. `chosen` is that of the ranks of this process.
void expectCollectives(const ProfileOptions &options, const Settings &settings, RanksToProfile &ranks, StepOfRank &of,
                       Chosen &chosen) {
  const RankPlace &place = ranks.place;
  if (!place.isProcess) {
    of.link = givenOr(linkOfThreads(place.ranks, settings.laneCount()), options.settings, place.ranks);
    of.agreeOnBucket = [&](int64_t bytes) { return *(chosen.bucket ? chosen.bucket : chosen.bucket = bytes); };
    of.agreeOnTurn = [&](int64_t turn) { return *(chosen.turn ? chosen.turn : chosen.turn = turn); };
    return;
  }
  ranks.group = processAsRank();
  of.link = givenOr(measureLink(ranks.group.get(), settings.laneCount()), options.settings, place.ranks);
  of.agreeOnBucket = [group = ranks.group](int64_t bytes) { return ofFirstRank(group.get(), bytes); };
  of.agreeOnTurn = of.agreeOnBucket;
}

// Of this process; steps that are the same of all ranks are loaded once.
void load(const ProfileOptions &options, const Model &model, RanksToProfile &ranks) {
  const RankPlace &place = ranks.place;
  Settings settings = settingsOfRank(options.settings, place);
  RunnerOptions runner = runnerOptionsOf(settings);
  int first = place.isProcess ? place.rank : 0, here = place.isProcess ? 1 : place.ranks;
  StepOfRank of;
  of.rank = first;
  of.ranks = place.ranks;
  of.warns = first == 0;
  static_cast<StepChoices &>(of) = options.mesh.choices();
  of.weights = options.mesh.weights(place.ranks);
  if (options.mesh.measuresShares())
    badUse("--shares auto: is what 'sprig train' measures; expected its numbers, as 2,1");
  of.stepsPerCall = options.stepsPerCall.count(settings);
  Chosen chosen;
  of.onOneMachine = place.isOnOneMachine();
  int threads = options.settings.laneCount() ? options.settings.laneCount() : sprig_rt_default_threads();
  std::vector<int> ofRanks = threadsByShares(threads, of.weights, place.ranks);
  auto takeThreads = [&](int rank) { // of shares that are not even, as `sprig train` has them
    if (!place.isProcess && !of.weights.empty()) settings.threads = runner.threads = ofRanks[size_t(rank)];
  };
  takeThreads(first);
  std::vector<Runner> &runners = ranks.runners;
  if (model.kind == ModelKind::package && options.train.empty()) {
    options.mesh.refuseChoicesOf(options.model);
    options.mesh.refuseZeroOf(options.model);
    if (!of.weights.empty()) options.mesh.refuseSharesOf(options.model);
    options.stepsPerCall.refuseOf(options.model);
    refuseForPackage(model, settings);
    runners.push_back(loadPackage(model, runner));
  } else if (options.train.empty()) {
    badUse("--mesh: ranks take training steps together, --train CONFIG, or calls of a model "
           "that is split, --shard NAME=AXIS,-,...");
  } else {
    expectCollectives(options, settings, ranks, of, chosen);
    runners.push_back(compileSteps(model, options.train, options.allow, settings, runner, of));
  }
  bool isOfAnyRank = TrainProgram::isOfAnyRank(runners.front());
  for (of.rank = first + 1, of.warns = false; of.rank < first + here; ++of.rank) {
    takeThreads(of.rank);
    runner.pinBehind(runners.back().threads());
    runners.push_back(isOfAnyRank || options.train.empty()
                          ? runners.front().another(runner)
                          : compileSteps(model, options.train, options.allow, settings, runner, of));
  }
}

// Calls of several steps are what is asked for where they are made.
std::string entryOf(const ProfileOptions &options) {
  if (!options.entry.empty()) return options.entry;
  return std::string(options.stepsPerCall.given().value_or(1) > 1 ? training::kStepsEntry : training::kStepEntry);
}

int reportRanks(const ProfileOptions &options, RanksToProfile ranks, const Settings &settings) {
  const int rank = ranks.place.rank;
  RanksProfile result = profileRanks(std::move(ranks), settings);
  if (rank) return kDone;
  if (!options.trace.empty()) {
    std::ostringstream trace;
    writeRanksTrace(trace, result);
    data::writeFile(options.trace, trace.str());
  }
  if (!options.common.json())
    printRanksProfile(result);
  else
    std::cout << toText({{"kind", "sprig profile"},
                         {"model", options.model},
                         {"machine", machine::readCpu().model},
                         {"ranks_profile", toJson(result)}})
              << '\n';
  return kDone;
}

int profileOfRanks(const ProfileOptions &options, const Model &model, const RankPlace &place) {
  refuseWithRanks(options);
  if (!options.inputs.empty())
    badUse("--input " + options.inputs.front() +
           ": goes with calls of a model, not with training steps of ranks, which share a batch");
  // Of processes the first alone says what all of them know.
  if (place.rank) setQuiet(true);
  RanksToProfile ranks{{}, place, entryOf(options), options.session.seconds, options.session.calls, options.seed};
  load(options, model, ranks);
  return reportRanks(options, std::move(ranks), options.settings);
}

// The call of a model that is split, on as many ranks as its mesh has.
int profileSplit(const ProfileOptions &options, const Model &model) {
  refuseWithRanks(options);
  if (!options.train.empty())
    badUse("--shard " + options.mesh.shardings.front() +
           ": splits the calls of a model, not the training steps of --train");
  if (model.kind == ModelKind::package) {
    options.mesh.refuseChoicesOf(options.model);
    options.mesh.refuseZeroOf(options.model);
    options.stepsPerCall.refuseOf(options.model);
  }
  options.mesh.refuseTraining();
  if (options.stepsPerCall.given()) badUse("--steps-per-call: is of training steps: --train CONFIG");
  RankedModel ranked(model, options.mesh, options.settings);
  if (ranked.where().rank) setQuiet(true);
  std::optional<BoundInputs> bound;
  if (!options.inputs.empty()) bound = bindInputs(ranked.inputSpecs(), options.inputs, options.seed, options.settings);
  EntryRequest entry;
  Settings settings = options.settings;
  if (model.kind != ModelKind::package) {
    entry = bound ? bound->entry : entryToSplit(model, settings);
    settings.dims.clear(); // the programs have these sizes
    settings.shapes.clear();
  }
  RanksToProfile ranks{ranked.runners(entry),   ranked.where(),        options.entry,
                       options.session.seconds, options.session.calls, options.seed};
  if (bound) ranks.arrays = std::move(bound->arrays);
  if (ranks.entry.empty()) {
    sprig_rt_entry_info info = ranks.runners.front().entryInfo(0);
    ranks.entry = info.name;
  }
  return reportRanks(options, std::move(ranks), settings);
}

int profile(const ProfileOptions &options) {
  if (!options.compare.empty()) return compare(options);
  if (options.model.empty()) badUse("expected a MODEL, or --compare with two saved profiles");
  checkOptions(options);
  Model model = openModel(options.model); // once: it may be standard input
  const bool isPackage = model.kind == ModelKind::package && options.train.empty();
  if ((isPackage || options.mesh.splitsModel()) && RankedModel::isOf(model, options.mesh, options.settings))
    return profileSplit(options, model);
  if (RankPlace place = options.mesh.place(options.settings); place.ranks > 1)
    return profileOfRanks(options, model, place);
  if (!isPackage && options.train.empty() && !options.mesh.strategy.empty())
    badUse("--strategy " + options.mesh.strategy + ": is of training steps: --train CONFIG");
  ProfileView view = options.view;
  view.operations = isVerbose() || options.common.json();
  std::optional<Runner> loaded;
  std::string entry = options.entry;
  if (options.train.empty() && options.stepsPerCall.given()) {
    if (model.kind == ModelKind::package) options.stepsPerCall.refuseOf(options.model);
    badUse("--steps-per-call: is of training steps: --train CONFIG");
  }
  if (isPackage) {
    loaded = compileAndLoad(model, {}, options.settings);
    if (RankedModel::isIn(*loaded)) return profileSplit(options, model);
  } else if (!options.train.empty()) {
    StepOfRank of;
    of.stepsPerCall = options.stepsPerCall.count(options.settings);
    if (of.stepsPerCall > 1) entry = entryOf(options);
    loaded = compileSteps(model, options.train, options.allow, options.settings,
                          {options.settings.laneCount(), options.settings.runtimeDevice(), options.settings.links,
                           options.settings.ownMemory},
                          of);
  }
  std::vector<BoundInputs> entries;
  if (!loaded || isChosenByShape(*loaded, entry))
    entries = bindEntries(loaded ? inputsOfCalls(*loaded, model, options.settings)
                                 : inputsOfCalls(model, options.settings, /*isOpen=*/true),
                          options.inputs, options.settings);
  if (!loaded) loaded = compileAndLoad(model, requestsOf(entries), options.settings);
  std::vector<ProfileTarget> targets =
      isChosenByShape(*loaded, entry) ? targetsOf(*loaded, std::move(entries), options.seed)
                                      : chooseTargets(*loaded, entry, options.settings, options.seed, options.inputs);
  for (auto &[flag, file] : {std::pair("--trace", &options.trace), {"--svg", &options.svg}})
    if (!file->empty() && targets.size() > 1)
      badUse(std::string(flag) + ": expected one entry, --dim makes " + std::to_string(targets.size()));

  machine::Cpu cpu = machine::readCpu();
  machine::ProductRates rates(calibration(cpu));
  Json list = Json::array();
  for (const ProfileTarget &target : targets) {
    PreparedCall call = target.entry ? loaded->prepare(*target.entry, target.arrays) : loaded->prepare(target.arrays);
    ProfileSession session(*loaded, call, options.session, target.arrays);
    ProfileResult result = session.run();
    result.dims = target.dims;
    if (int64_t steps = target.entry ? stepsOfEntry(*loaded, *target.entry) : 1; steps > 1)
      result.dims += (result.dims.empty() ? "" : ", ") + std::to_string(steps) + " steps each";
    setLimits(result, *loaded, rates);
    draw(options, *loaded, session, result);
    for (const std::string &text : repeatedCopies(*loaded, session.entry())) warn(text);
    if (!result.hasParts)
      warn("the package does not say which operations its commands hold (an older compiler wrote it); compile the "
           "model again for --group op, layer, shape and source");
    if (options.common.json()) {
      Json json = profileToJson(result, view);
      addArrays(json, options, target.arrays, call.takeOutputs());
      if (options.memory) json["memory"] = toJson(memoryUse(*loaded, session.entry()));
      list.push_back(json);
    } else {
      printProfile(result, view);
      if (options.memory) printMemoryUse(memoryUse(*loaded, session.entry()));
    }
  }
  Json document = {{"kind", "sprig profile"}, {"model", options.model}, {"machine", cpu.model}, {"profiles", list}};
  explainPlacement(options.settings, *loaded, options.common.json() ? &document : nullptr);
  if (options.common.json()) std::cout << toText(document) << '\n';
  if (isVerbose()) inform(loaded->describeLastRun());
  return kDone;
}

template <size_t N> std::vector<std::string> namesIn(const char *const (&list)[N]) { return {list, list + N}; }

} // namespace

void addProfile(CLI::App &app, Invocation &invocation) {
  auto options = std::make_shared<ProfileOptions>();
  CLI::App *command =
      addCommand(app, "profile", "Shows where the time of a model's calls goes: by command, operation or layer",
                 "  sprig profile examples/digits/model.onnx --dim batch=64 --threads 1\n"
                 "  sprig profile examples/digits/model.onnx --no-merge --group layer --sort limit --seconds 0.5",
                 options->common);
  command->add_option("MODEL", options->model, "an ONNX file, MLIR in the nn dialect, or a package");
  command->add_option("--seconds", options->session.seconds, "how long to run")->capture_default_str();
  command->add_option("--calls", options->session.calls, "how many calls to record, instead of --seconds")
      ->check(CLI::Range(1, 1 << 30));
  command->add_flag("--submit", options->session.submit, "queue the calls rather than wait for each");
  addInputs(*command, options->inputs);
  command->add_option("--random-inputs", options->seed, "seed of the inputs that are not given")->capture_default_str();
  addChoice(*command, "--group", options->view.group, namesIn(kProfileGroups),
            "what a row is: dispatch, op, layer, shape or source; shares of fused operations are estimates (~)");
  addChoice(*command, "--sort", options->view.sort, namesIn(kProfileColumns),
            "the column to sort by; order is that of the program");
  command->add_option("--trace", options->trace, "writes a few calls as a trace for Perfetto to FILE.json");
  command->add_option("--svg", options->svg,
                      "draws the last of those calls to FILE.svg: lanes, threads, devices, links, queue and loader as "
                      "rows");
  addLoaderFlags(*command, options->session.loader, "calls take their batches, as a training loop does,");
  command->add_flag("--memory", options->memory, "what memory a call holds, by class, and when most of it is in use");
  command->add_option("--entry", options->entry,
                      "the entry to run, as train_step, evaluate or main; --dim batch=N its samples (default: of a "
                      "package that trains the step of most samples, else by the inputs' sizes)");
  command->add_option("--train", options->train,
                      "training configuration: compiles and profiles the model's training step (or --entry evaluate)");
  addAllow(*command, options->allow);
  command
      ->add_option("--activities", options->activities,
                   "what to record, by device: cpu; cuda is a GPU's own times, which calls on one have in any case")
      ->capture_default_str();
  command
      ->add_option("--compare", options->compare,
                   "two profiles saved by --format json: time by row before and after, and whether results agree; exit "
                   "code 1 where they do not")
      ->expected(2);
  command
      ->add_option("--bound", options->bound,
                   "with --compare: how far outputs may differ, as a share of the largest value")
      ->needs("--compare")
      ->capture_default_str();
  addSettings(*command, options->settings);
  addPin(*command, options->settings);
  addMesh(*command, options->mesh);
  addShardings(*command, options->mesh.shardings);
  options->stepsPerCall.addTo(*command);
  addLinks(*command, options->settings);
  onRun(*command, invocation, [=] {
    takeTopology(options->settings);
    return profile(*options);
  });
}

} // namespace sprig::cli
