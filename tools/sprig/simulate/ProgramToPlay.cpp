#include "tools/sprig/simulate/ProgramToPlay.h"
#include "tools/sprig/profile/ProfileEntry.h"
#include "tools/sprig/simulate/GivenTopology.h"
#include <algorithm>
#include <map>

namespace sprig::cli {
namespace {

// Placing needs what is to run there; of cards nothing is known but what programs for a processor say.
void refuseCards(const SimulateOptions &options) {
  const Settings &settings = options.settings;
  std::vector<std::string> devices = settings.compileDevices();
  if (options.topology.empty() ||
      std::none_of(devices.begin(), devices.end(), [](const std::string &name) { return name.starts_with("cuda:"); }))
    return;
  std::string flag = "--devices " + settings.givenDevices();
  if (!options.train.empty())
    unsupported(flag + ": a training step cannot be placed on several cards yet; --devices " + devices.front() +
                " plays it on one");
  std::string dims, shares, from, topology = " --topology " + options.topology;
  if (!settings.compileFrom.empty()) from = " --compile-from " + settings.compileFrom;
  for (const std::string &dim : settings.dims) dims += " --dim " + dim;
  for (const std::string &shape : settings.shapes) dims += " --shape " + shape;
  for (size_t i = 0; i < devices.size(); ++i) shares += (i ? ",cpu:" : "cpu:") + std::to_string(i);
  unsupported(flag +
              ": a model cannot be placed on cards yet; what is placed on processors can be played on them:\n"
              "  sprig compile " +
              options.model + from + dims + " --devices " + shares + " -o placed.sprig\n" +
              "  sprig simulate placed.sprig" + dims + topology + " " + flag);
}

// Sizes that the inputs of the first entry have where a call chooses them.
std::map<std::string, int64_t> firstSizes(const Runner &runner, const std::vector<InputSpec> &specs) {
  std::map<std::string, int64_t> sizes;
  if (runner.entryCount() == 0) return sizes;
  std::vector<TensorSpec> inputs = runner.inputs(0);
  for (size_t i = 0; i < specs.size(); ++i)
    for (size_t d = 0; d < specs[i].dims.size(); ++d)
      if (!specs[i].dims[d].size) sizes.emplace(specs[i].dims[d].symbol, inputs[i].shape[d]);
  return sizes;
}

} // namespace

Runner loadToPlay(const SimulateOptions &options, const std::optional<machine::Topology> &topology, const Model &model,
                  std::vector<BoundInputs> &entries) {
  Settings settings = options.settings;
  RunnerOptions onClock{1, "null"};
  if (model.kind == ModelKind::package) {
    if (!options.train.empty())
      badUse("--train: " + model.path + " is a package, which trains by itself or not at all");
    refuseForPackage(model, settings);
    Runner runner = loadPackage(model, onClock);
    auto specs = isChosenByShape(runner, options.entry) ? inputsOfCalls(runner, model, settings) : runner.inputSpecs();
    entries = bindEntries(specs, {}, settings, firstSizes(runner, specs));
    return runner;
  }
  refuseCards(options);
  if (topology && settings.compileDevices().size() > 1) {
    placeOn(*topology, settings);
    inform("note: placed for the links of --topology " + options.topology + ", at the rates of this machine");
  }
  if (!options.train.empty()) return compileSteps(model, options.train, options.allow, settings, onClock);
  // A program that is scheduled already has its shapes.
  if (settings.compileFrom.empty()) {
    entries = bindEntries(inputsOfCalls(model, settings), {}, settings);
    Compiled compiled = compile(model, requestsOf(entries), settings, {"native"});
    Runner runner = Runner::load(std::move(compiled.package), model.path, onClock);
    runner.placements = std::move(compiled.placements);
    return runner;
  }
  Runner runner = Runner::load(compile(model, {EntryRequest()}, settings, {"native"}).package, model.path, onClock);
  auto specs = runner.inputSpecs();
  entries = bindEntries(specs, {}, settings, firstSizes(runner, specs));
  return runner;
}

} // namespace sprig::cli
