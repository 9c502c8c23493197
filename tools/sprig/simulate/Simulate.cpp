// sprig simulate: what a call would take on a machine that need not be here.
#include "lib/Data/File.h"
#include "lib/Machine/MachineModel.h"
#include "lib/Machine/TopologyFile.h"
#include "lib/Machine/TopologyPresets.h"
#include "runtime/device/DeviceNames.h"
#include "tools/sprig/Command.h"
#include "tools/sprig/Model.h"
#include "tools/sprig/profile/ProfileEntry.h"
#include "tools/sprig/simulate/SimulateReport.h"
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <filesystem>
#include <iostream>
#include <memory>
#include <sstream>

namespace sprig::cli {
namespace {

using machine::Topology;

struct Options {
  CommonOptions common;
  Settings settings;
  std::string model, topology, writeTopology, trace, svg, entry, train;
  std::vector<std::string> links, allow;
  bool list = false;
};

int listTopologies(const Options &options) {
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

// A file where there is one of that name or the name looks like one, else a preset.
Topology readTopology(const std::string &given) {
  std::error_code error;
  bool isFile = given.ends_with(".json") || given.find('/') != std::string::npos || given == "-" ||
                std::filesystem::exists(given, error);
  if (!isFile) {
    if (auto preset = machine::topologyPreset(given)) return *preset;
    throw Error(ErrorKind::usage,
                "--topology " + given + ": is neither a file nor one of " + machine::topologyPresetNames());
  }
  std::vector<char> bytes = data::readFile(given);
  return machine::topologyFromText({bytes.data(), bytes.size()}, given == "-" ? "<stdin>" : given);
}

// What --devices names, one for each of the program's; those of the program without.
std::vector<std::string> devicesFor(const Options &options, const std::vector<std::string> &own) {
  std::string text = options.settings.runtimeDevice();
  if (text.empty()) return own;
  rt::core::GivenDevices given;
  if (rt::core::Status status = rt::core::parseDevices(text, given); !status.isOk())
    throw Error(ErrorKind::usage, "--" + std::string(status.message()));
  std::vector<std::string> names;
  if (given.keepsTimeOnly())
    for (size_t i = 0; i < own.size(); ++i) names.push_back("null:" + std::to_string(i));
  else
    for (const rt::core::GivenDevice &device : given.list)
      names.push_back(device.kind + ":" + std::to_string(device.ordinal));
  if (names.size() != own.size()) {
    std::string list;
    for (const std::string &name : own) list += (list.empty() ? "" : ", ") + name;
    throw Error(ErrorKind::unsupported, "--devices " + text + ": the program runs on " + std::to_string(own.size()) +
                                            (own.size() == 1 ? " device (" : " devices (") + list + "), given " +
                                            std::to_string(names.size()));
  }
  return names;
}

Topology topologyFor(const Options &options, const std::vector<std::string> &devices) {
  int threads = options.settings.laneCount();
  Topology topology;
  if (options.topology.empty()) {
    topology = machine::thisMachine(devices, threads ? threads : sprig_rt_default_threads());
  } else {
    topology = readTopology(options.topology);
    if (threads)
      for (machine::Node &node : topology.nodes)
        if (node.name.starts_with("cpu:")) node.threads = threads;
  }
  for (const std::string &link : options.links) machine::setLink(topology, "--link", link);
  machine::check(topology, options.topology.empty() ? "--link" : options.topology);
  return topology;
}

std::vector<uint32_t> nodesOf(const Topology &topology, const std::vector<std::string> &devices) {
  std::vector<uint32_t> nodes;
  for (const std::string &device : devices) {
    int node = topology.find(device);
    if (node < 0)
      throw Error(ErrorKind::unsupported, "topology '" + topology.name + "' has no " + device + ", only " +
                                              topology.devices() + "; --devices says which of them to play the " +
                                              "program on");
    nodes.push_back(uint32_t(node));
  }
  return nodes;
}

// Compiles, or loads; nothing is run, so no device needs to be there.
Runner load(const Options &options, const Model &model, std::vector<InputSpec> &specs,
            std::vector<EntryRequest> &entries) {
  const Settings &settings = options.settings;
  RunnerOptions onClock{1, "null"};
  if (model.kind == ModelKind::package) {
    if (!options.train.empty())
      throw Error(ErrorKind::usage, "--train: " + model.path + " is a package, which trains by itself or not at all");
    refusePlaces(model, settings);
    Runner runner = loadPackage(model, onClock);
    specs = runner.inputSpecs();
    entries = entriesOf(settings, specs);
    return runner;
  }
  if (!options.train.empty()) return compileSteps(model, options.train, options.allow, settings, onClock);
  // A program that is scheduled already has its shapes.
  if (settings.compileFrom.empty()) {
    specs = inputsOf(model);
    entries = entriesOf(settings, specs);
    Compiled compiled = compile(model, entries, settings, {"native"});
    Runner runner = Runner::load(std::move(compiled.package), model.path, onClock);
    runner.placements = std::move(compiled.placements);
    return runner;
  }
  Runner runner = Runner::load(compile(model, {EntryRequest()}, settings, {"native"}).package, model.path, onClock);
  specs = runner.inputSpecs();
  entries = entriesOf(settings, specs);
  return runner;
}

// The entry that the runtime would run.
uint32_t entryOf(const Runner &runner, const ProfileTarget &target) {
  if (target.entry) return uint32_t(*target.entry);
  std::vector<sprig_rt_tensor> tensors;
  for (const TensorSpec &spec : runner.inputs(0)) {
    auto found = target.arrays.find(spec.name);
    if (found == target.arrays.end())
      throw Error(ErrorKind::internal, "input '" + spec.name + "' has no shape to choose an entry by");
    const data::Array &array = found->second;
    tensors.push_back({const_cast<char *>(array.bytes.data()), array.shape.data(), nullptr,
                       uint32_t(array.shape.size()), int32_t(array.dtype)});
  }
  uint32_t entry = 0;
  int64_t samples = -1;
  check(
      sprig_rt_package_choose(runner.package(), SPRIG_RT_ANY_ENTRY, tensors.data(), tensors.size(), &entry, &samples));
  if (samples >= 0)
    inform("no entry is for " + std::to_string(samples) +
           " samples, which the runtime splits or pads; one run of entry " + std::to_string(entry) + " is simulated");
  return entry;
}

int simulate(const Options &options) {
  if (options.list) return listTopologies(options);
  options.settings.laneCount();
  if (options.model.empty()) {
    // To be looked at, changed and given back.
    if (options.writeTopology.empty() || options.topology.empty())
      throw Error(ErrorKind::usage, "expected a MODEL, --list-topologies, or --topology with --write-topology");
    data::writeFile(options.writeTopology, topologyToText(topologyFor(options, {})));
    return kDone;
  }
  Model model = openModel(options.model);
  std::vector<InputSpec> specs;
  std::vector<EntryRequest> requests;
  Runner runner = load(options, model, specs, requests);
  std::vector<ProfileTarget> targets = chooseTargets(runner, options.entry, specs, requests, options.settings, 1);
  for (auto &[flag, file] : {std::pair("--trace", &options.trace), {"--svg", &options.svg}})
    if (!file->empty() && targets.size() > 1)
      throw Error(ErrorKind::usage,
                  std::string(flag) + ": expected one entry, --dim makes " + std::to_string(targets.size()));

  std::vector<std::string> devices = devicesFor(options, devicesOf(runner));
  Topology topology = topologyFor(options, devices);
  std::vector<uint32_t> nodes = nodesOf(topology, devices);
  if (!options.writeTopology.empty()) data::writeFile(options.writeTopology, topologyToText(topology));
  bool isNative = false;
  for (uint32_t node : nodes) isNative |= topology.nodes[node].rates == "native";
  const std::string native[] = {"native"};
  if (isNative && !machine::modelFor(native).measured)
    inform("this machine was never measured: its rates are the defaults of its instruction set ('sprig devices "
           "--calibrate' measures them)");

  Json list = Json::array();
  for (const ProfileTarget &target : targets) {
    SimulatedEntry entry;
    entry.index = entryOf(runner, target);
    entry.dims = target.dims;
    entry.program = programOf(runner, entry.index, topology, nodes);
    entry.played = machine::simulate(topology, entry.program.program);
    entry.memory = memoryOf(runner, entry.index, topology, entry.program, entry.played);
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
  auto options = std::make_shared<Options>();
  CLI::App *command = addCommand(
      app, "simulate", "Predicts a call on a machine that need not be here: devices, links, overlap, memory",
      "  sprig simulate examples/digits/model.onnx --dim batch=64 --topology pcie4 --devices cuda:0\n"
      "  sprig simulate examples/digits/model.onnx --devices null:0 --link host-null:0=5us,1GB/s --svg digits.svg",
      options->common);
  command->add_option("MODEL", options->model, "an ONNX file, MLIR in the nn dialect, or a package");
  command
      ->add_option("--topology", options->topology,
                   "the machine: the name of a preset (--list-topologies) or FILE.json (default: this machine, with "
                   "measured rates where 'sprig devices --calibrate' has some)")
      ->type_name("NAME|FILE");
  command
      ->add_option("--link", options->links,
                   "adds a link or replaces it: A-B=LATENCY,RATE with units, as cpu:0-cpu:1=5us,1GB/s or 8Gbit/s; "
                   "',half' shares the rate between both directions, ',10000km' adds a length of fibre; repeatable")
      ->type_name("LINK")
      ->take_all()
      ->expected(1);
  command->add_flag("--list-topologies", options->list, "lists the presets");
  command->add_option("--write-topology", options->writeTopology, "writes the machine that was simulated to FILE.json")
      ->type_name("FILE");
  command->add_option("--trace", options->trace,
                      "writes the call as a trace for Perfetto to FILE.json, in the form of profile --trace");
  command->add_option("--svg", options->svg, "draws the timeline to FILE.svg: lanes, devices and links as rows");
  command->add_option("--entry", options->entry,
                      "the entry, as train_step, evaluate or main; --dim batch=N its samples (default: of a package "
                      "that trains the step of most samples, else by the inputs' sizes)");
  command->add_option("--train", options->train,
                      "training configuration: compiles and simulates the model's training step");
  addAllow(*command, options->allow);
  addSettings(*command, options->settings);
  command->callback([=, &invocation] { invocation.run = [=] { return simulate(*options); }; });
}

} // namespace sprig::cli
