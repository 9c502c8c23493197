// sprig simulate: what a call would take on a machine that need not be here.
#include "lib/Data/File.h"
#include "lib/Machine/MachineModel.h"
#include "lib/Machine/TopologyFile.h"
#include "lib/Machine/TopologyPresets.h"
#include "runtime/device/DeviceNames.h"
#include "tools/sprig/Command.h"
#include "tools/sprig/MeshFlags.h"
#include "tools/sprig/Model.h"
#include "tools/sprig/inspect/MachineFile.h"
#include "tools/sprig/profile/ProfileEntry.h"
#include "tools/sprig/run/Runner.h"
#include "tools/sprig/simulate/GivenTopology.h"
#include "tools/sprig/simulate/ProgramToPlay.h"
#include "tools/sprig/simulate/SimulateReport.h"
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <algorithm>
#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>

namespace sprig::cli {
namespace {

using machine::Topology;

constexpr int64_t kMostCalls = 10'000'000;
constexpr size_t kMostDrawnCalls = 4, kMostDrawnCommands = 20'000;

int listTopologies(const SimulateOptions &options) {
  Json list = Json::array();
  Table table({"topology", "devices", "what it is"}, Table::Cells::text);
  for (const machine::TopologyPreset &preset : machine::topologyPresets()) {
    Topology made = preset.make();
    table.add({made.name, made.devices(), made.about});
    list.push_back(Json::parse(topologyToText(made)));
  }
  if (options.common.json())
    std::cout << toText(list) << '\n';
  else
    table.print();
  return kDone;
}

// `given`: what --topology names, where it does.
Topology topologyFor(const SimulateOptions &options, const std::optional<Topology> &given,
                     const std::vector<std::string> &devices) {
  int threads = options.settings.laneCount();
  Topology topology;
  if (!given) {
    topology = machine::thisMachine(devices, threads ? threads : sprig_rt_default_threads());
  } else {
    topology = *given;
    if (threads)
      for (machine::Node &node : topology.nodes)
        if (node.name.starts_with("cpu:")) node.threads = threads;
  }
  for (const std::string &link : options.links) machine::setLink(topology, "--link", link);
  machine::check(topology, options.topology.empty() ? "--link" : options.topology);
  return topology;
}

// "2 of entry 'main' for 8 samples"
std::string runsText(const Runner &runner, const std::vector<EntryRuns> &runs) {
  std::string text;
  for (const EntryRuns &run : runs) {
    sprig_rt_entry_info info = runner.entryInfo(run.entry);
    text += (text.empty() ? "" : ", ") + std::to_string(run.count) + " of entry '" + info.name + "' for " +
            std::to_string(run.samples) + (run.padding ? " (" + std::to_string(run.padding) + " of them padding)" : "");
  }
  return text;
}

double nanosecondsOf(const char *flag, const std::string &text) {
  if (text.empty()) return 0;
  auto ns = rt::parseNanoseconds(text);
  if (!ns) badUse(std::string(flag) + " " + text + ": found '" + text + "', expected " + std::string(rt::kTimeForm));
  return *ns;
}

CallPlan callsOf(const SimulateOptions &options) {
  CallPlan plan;
  plan.count = std::max<int64_t>(options.calls, 1);
  plan.readsEach = options.read == "each";
  plan.frontEndNs = nanosecondsOf("--front-end", options.frontEnd);
  plan.returnNs = nanosecondsOf("--return", options.returns);
  return plan;
}

// Calls that traces and pictures have: a few, fewer where they are of many commands.
int64_t drawnCalls(const PackageProgram &program) {
  size_t commands = 1;
  for (const auto &lane : program.commands) commands += lane.size();
  return int64_t(std::clamp<size_t>(kMostDrawnCommands / commands, 1, kMostDrawnCalls));
}

// The entry that the runtime would run, once, for the call.
EntryRuns entryToRun(const Runner &runner, const ProfileTarget &target) {
  if (target.entry) return {uint32_t(*target.entry)};
  std::vector<sprig_rt_tensor> tensors;
  for (const TensorSpec &spec : runner.inputs(0)) {
    auto found = target.arrays.find(spec.name);
    if (found == target.arrays.end()) internalError("input '" + spec.name + "' has no shape to choose an entry by");
    const data::Array &array = found->second;
    tensors.push_back({const_cast<char *>(array.bytes.data()), array.shape.data(), nullptr,
                       uint32_t(array.shape.size()), int32_t(array.dtype)});
  }
  uint32_t entry = 0;
  int64_t samples = -1;
  check(
      sprig_rt_package_choose(runner.package(), SPRIG_RT_ANY_ENTRY, tensors.data(), tensors.size(), &entry, &samples));
  if (samples < 0) return {entry};
  if (samples == 0) badUse("batch=0: expected at least 1 sample, no entry runs for none");
  std::vector<EntryRuns> runs = runsFor(runner, entry, samples);
  int64_t count = 0;
  for (const EntryRuns &run : runs) count += run.count;
  if (count != 1)
    badUse("batch=" + std::to_string(samples) + ": expected what one run serves, found that " +
           std::to_string(samples) + " samples are " + std::to_string(count) + " runs: " + runsText(runner, runs) +
           "; each is simulated by itself, as --dim batch=" + std::to_string(runs.front().samples));
  return runs.front();
}

// What would be left out without a word.
void refuseUnused(const SimulateOptions &options) {
  const Settings &settings = options.settings;
  std::vector<std::pair<const char *, bool>> given = {{"--svg", !options.svg.empty()},
                                                      {"--trace", !options.trace.empty()},
                                                      {"--train", !options.train.empty()},
                                                      {"--entry", !options.entry.empty()},
                                                      {"--devices", !settings.devices.empty()},
                                                      {"--dim", !settings.dims.empty()},
                                                      {"--shape", !settings.shapes.empty()},
                                                      {"--calls", options.calls > 0},
                                                      {"--front-end", !options.frontEnd.empty()},
                                                      {"--return", !options.returns.empty()},
                                                      {"--read", !options.read.empty()},
                                                      {"--mesh", !options.mesh.empty()},
                                                      {"--ranks", !options.ranks.empty()}};
  std::string alone = "--write-topology";
  if (options.list) {
    alone = "--list-topologies";
    given.insert(given.end(), {{"MODEL", !options.model.empty()},
                               {"--topology", !options.topology.empty()},
                               {"--link", !options.links.empty()},
                               {"--write-topology", !options.writeTopology.empty()}});
  }
  for (auto &[flag, isGiven] : given)
    if (isGiven && (options.list || options.model.empty()))
      badUse(alone + " together with " + flag + ": " +
             (options.list ? "expected nothing else beside the list" : "expected a MODEL to simulate, too"));
}

void refuseOneFileTwice(const SimulateOptions &options) {
  std::pair<const char *, const std::string *> files[] = {
      {"--trace", &options.trace}, {"--svg", &options.svg}, {"--write-topology", &options.writeTopology}};
  auto place = [](const std::string &file) {
    std::error_code error;
    std::filesystem::path found = std::filesystem::weakly_canonical(file, error);
    return error ? std::filesystem::path(file) : found;
  };
  for (auto &a : files)
    for (auto *b = &a + 1; b != std::end(files); ++b)
      if (!a.second->empty() && !b->second->empty() && place(*a.second) == place(*b->second))
        badUse(std::string(a.first) + " and " + b->first + " both write " + *b->second + ", expected two files");
}

int simulate(const SimulateOptions &options) {
  if (options.list || (options.model.empty() && !options.writeTopology.empty())) refuseUnused(options);
  refuseOneFileTwice(options);
  if (options.list) return listTopologies(options);
  if (isOfRanks(options)) return simulateRanks(options);
  CallPlan plan = callsOf(options);
  options.settings.laneCount();
  std::optional<Topology> given;
  if (!options.topology.empty()) given = readTopology(options.topology);
  if (options.model.empty()) {
    // To be looked at, changed and given back.
    if (options.writeTopology.empty() || options.topology.empty())
      badUse("expected a MODEL, --list-topologies, or --topology with --write-topology");
    data::writeFile(options.writeTopology, topologyToText(topologyFor(options, given, {})));
    return kDone;
  }
  Model model = openModel(options.model);
  std::vector<BoundInputs> entries;
  Runner runner = loadToPlay(options, given, model, entries);
  std::vector<ProfileTarget> targets = isChosenByShape(runner, options.entry)
                                           ? targetsOf(runner, std::move(entries), 1)
                                           : chooseTargets(runner, options.entry, options.settings, 1);
  for (auto &[flag, file] : {std::pair("--trace", &options.trace), {"--svg", &options.svg}})
    if (!file->empty() && targets.size() > 1)
      badUse(std::string(flag) + ": expected one entry, --dim makes " + std::to_string(targets.size()));

  std::vector<std::string> devices = devicesFor(runner, options.settings);
  Topology topology = topologyFor(options, given, devices);
  std::vector<uint32_t> nodes = nodesOf(topology, devices, "--devices says which of them to play the program on");
  if (!options.writeTopology.empty()) data::writeFile(options.writeTopology, topologyToText(topology));
  bool isNative = false;
  for (uint32_t node : nodes) isNative |= topology.nodes[node].rates == "native";
  const std::string native[] = {"native"};
  if (isNative && !machine::modelFor(native).measured)
    inform("this machine was never measured: its rates are the defaults of its instruction set ('sprig devices "
           "--calibrate' measures them)");
  if (auto kept = isNative ? machine::keptCalibration() : std::nullopt) warnIfUnsteady(*kept);

  Json list = Json::array();
  for (const ProfileTarget &target : targets) {
    SimulatedEntry entry;
    EntryRuns run = entryToRun(runner, target);
    entry.index = run.entry;
    entry.padding = run.padding;
    entry.samples = samplesOf(runner, entry.index);
    entry.dims = target.dims;
    entry.program = programOf(runner, entry.index, topology, nodes);
    entry.played = machine::simulate(topology, entry.program.program);
    entry.memory = memoryOf(runner, entry.index, topology, entry.program, entry.played);
    entry.calls = playCalls(plan, topology, entry.program, entry.played, drawnCalls(entry.program));
    if (entry.calls.ahead)
      for (size_t device = 0; device < nodes.size(); ++device)
        if (!topology.nodes[nodes[device]].hostMemory) entry.memory[device].arrays *= 2;
    entry.path = pathOf(runner, entry);
    if (!options.trace.empty()) {
      std::ostringstream trace;
      writeSimulatedTrace(trace, runner, topology, entry);
      data::writeFile(options.trace, trace.str());
    }
    if (!options.svg.empty()) data::writeFile(options.svg, simulatedTimeline(topology, entry, options.model));
    if (options.common.json()) {
      list.push_back(toJson(topology, entry));
    } else {
      if (&target != &targets.front()) std::cout << '\n';
      printSimulation(topology, entry);
    }
  }
  Json document = {{"kind", "sprig simulate"},
                   {"model", options.model},
                   {"topology", Json::parse(topologyToText(topology))},
                   {"simulations", list}};
  explainPlacement(options.settings, runner, options.common.json() ? &document : nullptr);
  if (options.common.json()) std::cout << toText(document) << '\n';
  return kDone;
}

} // namespace

void addSimulate(CLI::App &app, Invocation &invocation) {
  auto options = std::make_shared<SimulateOptions>();
  CLI::App *command = addCommand(
      app, "simulate", "Predicts a call on a machine that need not be here: devices, links, overlap, memory",
      "  sprig simulate examples/digits/model.onnx --dim batch=64 --topology pcie4 --devices cuda:0\n"
      "  sprig simulate examples/digits/model.onnx --devices null:0 --link host-null:0=5us,1GB/s --svg digits.svg",
      options->common);
  command->add_option("MODEL", options->model, "an ONNX file, MLIR in the nn dialect, or a package");
  addText(*command, "--topology", "NAME|FILE", options->topology,
          "the machine: the name of a preset (--list-topologies) or FILE.json (default: this machine, with "
          "measured rates where 'sprig devices --calibrate' has some)");
  addRepeated(*command, "--link", options->links,
              "adds a link or replaces it: A-B=LATENCY,RATE with units, as cpu:0-cpu:1=5us,1GB/s or 8Gbit/s; "
              "',half' shares the rate between both directions, ',10000km' adds a length of fibre; repeatable")
      ->type_name("LINK");
  command
      ->add_option("--calls", options->calls,
                   "so many calls one after the other, as one context runs them: the next ones are submitted while one "
                   "runs, no two run at once (default 1)")
      ->check(CLI::Range(int64_t(1), kMostCalls));
  addText(*command, "--front-end", "TIME", options->frontEnd,
          "what each call takes of the caller before it is submitted, with its unit, as 20us (default 0s)");
  addText(*command, "--return", "TIME", options->returns,
          "what reading a call's result takes of the caller, with its unit, as 5us (default 0s)");
  addChoice(*command, "--read", options->read, {"last", "each"},
            "which results are read: each before the next call, as loops around a blocking call do, or the last "
            "(default last)");
  command->add_flag("--list-topologies", options->list, "lists the presets");
  addText(*command, "--write-topology", "FILE", options->writeTopology,
          "writes the machine that was simulated to FILE.json");
  addText(*command, "--trace", "FILE", options->trace,
          "writes the call as a trace for Perfetto to FILE.json, in the form of profile --trace");
  addText(*command, "--svg", "FILE", options->svg, "draws the timeline to FILE.svg: lanes, devices and links as rows");
  command->add_option("--entry", options->entry,
                      "the entry, as train_step, evaluate or main; --dim batch=N its samples (default: of a package "
                      "that trains the step of most samples, else by the inputs' sizes)");
  command->add_option("--train", options->train,
                      "training configuration: compiles and simulates the model's training step");
  addText(*command, "--mesh", "data=N", options->mesh,
          "data=N: the step of N ranks on the devices of --topology, with its collectives; data=1,2,4 or "
          "data=1..1024, which doubles, is the curve over many");
  addText(*command, "--ranks", "N,...|A..B", options->ranks, "the same as --mesh data=");
  addChoice(*command, "--scaling", options->scaling, {"strong", "weak"},
            "strong: the batch of the configuration is that of all ranks together, as in sprig train; weak: each "
            "rank has one (default strong; of a package, whose shares are fixed, weak)");
  command->add_option("--algo", options->algorithm,
                      "the algorithm of all-reduces that have none of their own (default: by their bytes, as a run)");
  addText(*command, "--network", "NAME|FILE", options->network,
          "hosts on one switch, as 10gbe: what joins machines with cards where ranks need several (default 100gbe)");
  addText(*command, "--shares", "W,W,...|auto", options->shares,
          "of --mesh, --ranks: how much of each batch each rank has, as 2,1 (default: as many samples each); "
          "auto: by what the step takes on each device");
  addText(*command, "--bucket", "auto|MB", options->bucket,
          "gradients that go together, as of train: MB at most, none, unlimited, or auto (by cost, at the "
          "rates of the topology; default)");
  addFactors(*command, options->factors);
  addZero(*command, options->zero);
  addAllowGather(*command, options->allowGather);
  options->stepsPerCall.addTo(*command);
  addAllow(*command, options->allow);
  addSettings(*command, options->settings);
  command->get_option("--threads")
      ->description("threads of each processor of a topology, or that those of this machine share (default: what the "
                    "topology says, or the usable processors)");
  command->callback([=, &invocation] {
    options->settings.devicesAreNames = !options->topology.empty();
    options->settings.links = options->links; // placement counts them
    invocation.run = [=] { return simulate(*options); };
  });
}

} // namespace sprig::cli
