#include "tools/sprig/Model.h"
#include "lib/Import/ONNX/SeedName.h"
#include "lib/Data/File.h"
#include "lib/Lengths/Sums.h"
#include <algorithm>
#include <filesystem>
#include <fstream>

namespace sprig::cli {
Model openModel(const std::string &path) {
  Model model;
  model.path = path;
  std::error_code error;
  if (path != "-" && std::filesystem::is_regular_file(path, error)) {
    char head[8] = {};
    std::ifstream(path, std::ios::binary).read(head, sizeof head);
    if (isPackage({head, sizeof head})) {
      model.kind = ModelKind::package;
      return model;
    }
  }
  model.text = data::readText(path);
  model.kind = modelKind(model.text, path);
  return model;
}

std::string entryName(const std::vector<EntryRequest> &entries, size_t index) {
  if (entries.size() == 1) return "main";
  std::string name = "main";
  for (auto &[symbol, size] : entries[index].dims) name += "_" + symbol + std::to_string(size);
  return name;
}

std::vector<InputSpec> inputsOfCalls(const Model &model, const Settings &settings, bool isOpen) {
  if (model.kind == ModelKind::mlir && !settings.compileFrom.empty())
    badUse("--compile-from " + settings.compileFrom +
           ": goes with 'sprig compile', which makes a package of the program to run, and with 'sprig simulate'");
  std::vector<InputSpec> specs = inputsOf(model), declared = specs;
  for (auto &[name, values] : settings.inputValues())
    if (name != kRandomSeed && std::erase_if(specs, [&](const InputSpec &spec) { return spec.name == name; }) == 0)
      badUse("--value " + name + "=...: the model has no input '" + name + "'");
  std::map<std::string, std::vector<int64_t>> shapes = settings.inputShapes();
  std::map<std::string, int64_t> dims = settings.entryDims(/*besideRanges=*/true).front();
  for (const InputSpec &spec : specs)
    data::refuseRanges(spec.holder, spec.name,
                       [&](const std::string &dim) { return settings.dimRanges().count(dim) > 0; });
  specs = withTensors(specs, dims, [&](auto &name) { return shapes.count(name) > 0; });
  declared.insert(declared.end(), specs.begin(), specs.end());
  requireDims(model.path, declared, settings);
  if (!isOpen) requireTensors(specs);
  for (InputSpec &spec : specs) {
    auto given = shapes.find(spec.name);
    if (spec.hasShape || given == shapes.end()) continue;
    spec.hasShape = true;
    for (int64_t size : given->second) spec.dims.push_back({size, ""});
  }
  return specs;
}

std::vector<InputSpec> inputsOfCalls(const Runner &package, const Model &model, const Settings &settings) {
  std::vector<InputSpec> specs = package.inputSpecs();
  requireDims(model.path, specs, settings);
  return specs;
}

Runner loadPackage(const Model &model, const RunnerOptions &options) {
  if (model.text.empty()) return Runner::load(model.path, options);
  return Runner::load({model.text.begin(), model.text.end()}, model.path == "-" ? "<stdin>" : model.path, options);
}

RunnerOptions runnerOptionsOf(const Settings &settings) {
  return {settings.laneCount(), settings.runtimeDevice(), settings.links, settings.ownMemory, settings.pin ? 1 : 0};
}

void refuseForPackage(const Model &model, const Settings &settings) {
  if (!settings.places.empty() || settings.explainPlacement)
    badUse(model.path + ": is a package, in which all has its place; --place and "
                        "--explain-placement go with the model that it was made of");
  std::pair<const char *, bool> made[] = {{"--lanes goes", settings.lanes != Settings().lanes},
                                          {"--remarks and --explain-schedule go", !settings.remarks.empty()},
                                          {"--compile-from goes", !settings.compileFrom.empty()},
                                          {"--compile-to goes", !settings.compileTo.empty()},
                                          {"--dump-phases goes", !settings.dumpPhases.empty()}};
  for (auto &[flagGoes, isGiven] : made)
    if (isGiven)
      badUse(model.path + ": is a package, which stays as it was compiled; " + flagGoes +
             " with the model that it was made of");
  if (!settings.values.empty())
    badUse(model.path + ": is a package, whose inputs stay; --value goes with the model that it was made of");
  if (settings.precision != Settings().precision)
    badUse(model.path + ": is a package, whose precision stays; --precision goes with the model that it was made of");
}

Runner compileAndLoad(const Model &model, const std::vector<EntryRequest> &entries, const Settings &settings,
                      std::vector<PhaseTime> *phases) {
  RunnerOptions options = runnerOptionsOf(settings);
  if (model.kind == ModelKind::package) {
    refuseForPackage(model, settings);
    return loadPackage(model, options);
  }
  Compiled compiled = compile(model, entries, settings, {"native"});
  if (phases) *phases = compiled.phases;
  Runner runner = Runner::load(std::move(compiled.package), model.path, options);
  runner.placements = std::move(compiled.placements);
  return runner;
}

void explainPlacement(const Settings &settings, const Runner &runner, Json *document) {
  if (settings.explainPlacement) explain(runner.placements, document);
}

namespace {

// That ranges are of dimensions that there are, and that nothing else gives a size.
void requireRanges(const std::vector<InputSpec> &specs, const EntryRequest &entry) {
  std::vector<std::string> symbols = unboundSymbols(specs, entry.dims);
  for (const auto &[name, range] : entry.ranges) {
    if (std::find(symbols.begin(), symbols.end(), name) != symbols.end()) continue;
    std::string text = "--dim " + name + "=" + std::to_string(range.first) + ".." + std::to_string(range.last) + ": ";
    if (auto given = entry.dims.find(name); given != entry.dims.end())
      badUse(text + "dimension '" + name + "' is already " + std::to_string(given->second));
    badUse(text + "the model has no dimension of that name without a size");
  }
}

} // namespace

std::vector<EntryRequest> requestEntries(const Model &model, const Settings &settings) {
  // What a phase has left has its sizes, and later phases leave no function to ask.
  if (model.kind == ModelKind::mlir && !settings.compileFrom.empty()) return {EntryRequest{}};
  auto specs = inputsOfCalls(model, settings);
  std::vector<EntryRequest> entries;
  for (auto &dims : settings.entryDims(/*besideRanges=*/true)) {
    EntryRequest entry{dims, settings.inputShapes(), {}, settings.dimRanges()};
    bindShapes(specs, entry.shapes, entry.dims);
    requireRanges(specs, entry);
    std::map<std::string, int64_t> known = entry.dims;
    for (const auto &[name, range] : entry.ranges) known.emplace(name, range.last);
    for (const auto &[name, sum] : settings.dimSums())
      if (std::optional<int64_t> size = sizeOfSum(sum, known)) known.emplace(name, *size);
    for (const std::string &symbol : unboundSymbols(specs, known))
      if (std::optional<int64_t> size = sizeOfSum(symbol, known)) known.emplace(symbol, *size);
    requireSizes(model.path, specs, known);
    entries.push_back(entry);
  }
  return entries;
}

} // namespace sprig::cli
