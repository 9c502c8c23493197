// sprig inspect: what is inside of a model or a package.
#include "lib/Data/File.h"
#include "lib/Machine/Cpu.h"
#include "runtime/base/Memory.h"
#include "sprig/rt/utf8.hpp"
#include "tools/sprig/Command.h"
#include "tools/sprig/MemoryLimit.h"
#include "tools/sprig/Model.h"
#include "tools/sprig/inspect/CudaKernels.h"
#include "tools/sprig/inspect/ModelReport.h"
#include "tools/sprig/inspect/PackageReport.h"
#include "tools/sprig/profile/ProgramMemory.h"
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <set>
#include <unistd.h>

namespace fs = std::filesystem;
namespace sprig::cli {
namespace {

struct InspectOptions {
  CommonOptions common;
  Settings settings;
  std::string model, graph, memoryPlot, batch, limit;
  bool params = false, memory = false;
};

// Graphviz draws; it is not ours to do.
std::string renderSvg(const std::string &dot) {
  fs::path source = fs::temp_directory_path() / ("sprig-graph-" + std::to_string(::getpid()) + ".dot");
  fs::path target = source;
  target.replace_extension(".svg");
  data::writeFile(source, dot);
  int status = std::system(("dot -Tsvg -o '" + target.string() + "' '" + source.string() + "' 2>/dev/null").c_str());
  std::error_code error;
  fs::remove(source, error);
  if (status != 0) {
    fs::remove(target, error);
    unsupported("drawing SVG needs Graphviz's 'dot' on the PATH; FILE.dot works without it");
  }
  auto bytes = data::readFile(target);
  fs::remove(target, error);
  return {bytes.begin(), bytes.end()};
}

void writeGraph(const std::string &file, const std::string &dot) {
  bool svg = file.ends_with(".svg");
  if (!svg && !file.ends_with(".dot")) badUse("--graph " + file + ": expected the ending .dot or .svg");
  std::string text = rt::validUtf8(dot);
  data::writeFile(file, svg ? renderSvg(text) : text);
}

void drawMemory(const InspectOptions &options, const MemoryNeeds &needs) {
  if (!options.memoryPlot.empty()) data::writeFile(options.memoryPlot, memoryPlanToSvg(needs.entries.front()));
}

bool wantsMemory(const InspectOptions &options) { return options.memory || !options.memoryPlot.empty(); }

// The dimension that --batch means: the first of the first input that a size must be given for.
std::string batchSymbol(const InspectOptions &options, const std::vector<InputSpec> &specs, const EntryRequest &entry) {
  auto symbols = unboundSymbols(specs, entry.dims);
  if (symbols.empty()) badUse("--batch " + options.batch + ": the model has no dimension without a size");
  return symbols.front();
}

void bindBatch(const InspectOptions &options, const Model &model, const std::vector<InputSpec> &specs,
               EntryRequest &entry) {
  if (options.batch.empty()) return;
  std::string symbol = batchSymbol(options, specs, entry);
  int64_t size = 0;
  if (options.batch != "auto") {
    auto [end, error] = std::from_chars(options.batch.data(), options.batch.data() + options.batch.size(), size);
    if (error != std::errc() || *end != 0 || size < 1 || size > int64_t(1) << 48)
      badUse("--batch " + options.batch + ": expected auto or a size from 1 to 2^48");
    entry.dims[symbol] = size;
    return;
  }
  for (const std::string &other : unboundSymbols(specs, entry.dims))
    if (other != symbol) entry.dims[other] = 1;
  uint64_t limit =
      options.limit.empty() ? uint64_t(machine::readCpu().memoryBytes) : parseBytes("--limit", options.limit);
  size = largestBatch(model, entry, symbol, options.settings, limit);
  entry.dims[symbol] = size;
  if (!options.common.json())
    std::cout << "the largest " << symbol << " within " << formatBytes(double(limit)) << " is " << size << '\n';
}

std::vector<CudaImageReport> cudaKernelsOf(const Model &model) {
  if (!model.text.empty()) return cudaKernels(std::as_bytes(std::span(model.text)));
  rt::core::MappedFile file;
  if (rt::core::Status status = rt::core::MappedFile::open(model.path.c_str(), file); !status.isOk())
    badInput(std::string(status.message()));
  return cudaKernels(std::as_bytes(file.bytes()));
}

int inspectPackage(const InspectOptions &options, const Model &model) {
  if (!options.graph.empty()) badUse(options.model + ": --graph needs the model, not a package");
  if (!options.batch.empty()) badUse(options.model + ": --batch needs the model; a package's sizes are fixed");
  refuseForPackage(model, options.settings);
  // A package for another machine can be looked at too: the null device loads no code.
  Runner runner = loadPackage(model, {1, "null"});
  MemoryNeeds needs = memoryNeeds(runner, options.settings);
  std::vector<CudaImageReport> gpuKernels = cudaKernelsOf(model);
  if (options.common.json()) {
    Json json = packageToJson(runner);
    if (!gpuKernels.empty()) json["gpu_kernels"] = toJson(gpuKernels);
    json["memory"] = toJson(needs);
    std::cout << toText(json) << '\n';
  } else {
    if (options.params)
      printPackageParameters(runner);
    else {
      printPackage(runner);
      print(gpuKernels);
    }
    if (options.memory) printMemory(needs);
  }
  drawMemory(options, needs);
  return kDone;
}

// The entries that --dim asks for; what it leaves open is as in the first one.
std::vector<EntryRequest> allEntries(const InspectOptions &options, const std::vector<InputSpec> &specs,
                                     const EntryRequest &first) {
  std::vector<EntryRequest> entries = {first};
  auto dims = options.settings.entryDims();
  for (size_t i = 1; i < dims.size(); ++i) {
    EntryRequest entry{dims[i], first.shapes, {}};
    bindShapes(specs, entry.shapes, entry.dims);
    entry.dims.insert(first.dims.begin(), first.dims.end());
    entries.push_back(entry);
  }
  return entries;
}

// Why a model shows no more than its file's operators, and what helps against each obstacle.
void explainOutline(const ModelSummary &summary, const std::string &reason) {
  inform("the operators as the file has them, as it cannot be compiled so: " + reason);
  bool isOfTools = false;
  for (const OpRow &row : summary.ops) {
    if (row.obstacle.empty()) continue;
    inform("operator '" + row.op + "' " + row.obstacle);
    isOfTools |= row.op.starts_with("com.microsoft.");
  }
  if (isOfTools)
    inform("operators of com.microsoft are written by tools that optimise or quantise a model for one runtime: "
           "'sprig ops' lists those that Sprig has; it takes the model as it was before in any case");
}

// Sizes to try for dimensions that nobody gives one: 1, and larger ones, as windows and paddings need them: of all but
// the first dimensions of inputs, which are batches, then of one alone.
std::vector<std::map<std::string, int64_t>> sizesToTry(const std::vector<InputSpec> &specs,
                                                       const std::vector<std::string> &unbound) {
  constexpr size_t kMost = 24;
  std::map<std::string, int64_t> ones;
  for (const std::string &symbol : unbound) ones[symbol] = 1;
  std::vector<std::map<std::string, int64_t>> tried = {ones};
  std::set<std::string> batches;
  for (const InputSpec &spec : specs)
    if (spec.dims.size() > 1) batches.insert(spec.dims.front().symbol);
  for (int64_t size : {64, 256, 1024}) {
    auto inner = ones;
    for (auto &[symbol, value] : inner)
      if (!batches.count(symbol)) value = size;
    tried.push_back(inner);
    for (const std::string &symbol : unbound) {
      auto alone = ones;
      alone[symbol] = size;
      if (tried.size() < kMost && std::find(tried.begin(), tried.end(), alone) == tried.end()) tried.push_back(alone);
    }
  }
  return tried;
}

// What no size helps against is shown without work. Binds the sizes that were taken.
ModelSummary summarizeSomehow(const Model &model, const std::vector<InputSpec> &specs, EntryRequest &entry,
                              const Settings &settings) {
  std::vector<std::string> unbound = unboundSymbols(specs, entry.dims);
  std::optional<Error> first;
  for (const auto &sizes : sizesToTry(specs, unbound)) {
    EntryRequest tried = entry;
    tried.dims.insert(sizes.begin(), sizes.end());
    try {
      ModelSummary summary = summarizeModel(model, tried, settings);
      for (const std::string &symbol : unbound) takeSize(symbol, sizes.at(symbol), entry.dims);
      return summary;
    } catch (const Error &error) {
      if (model.kind != ModelKind::onnx) throw;
      // Where the file says all sizes, what is wrong is bad input.
      if (unbound.empty() && error.kind() != ErrorKind::unsupported) throw;
      if (!first) first = error;
    }
    if (unbound.empty()) break;
  }
  ModelSummary summary = outlineModel(model);
  std::string sizes;
  for (const std::string &symbol : unbound) sizes += (sizes.empty() ? "with " : ", ") + symbol + "=1";
  explainOutline(summary, (sizes.empty() ? "" : sizes + " (--dim binds other sizes), ") + first->what());
  return summary;
}

// Sizes in place of the symbols that are bound to them.
std::vector<InputSpec> withSizes(std::vector<InputSpec> specs, const std::map<std::string, int64_t> &sizes) {
  for (InputSpec &spec : specs)
    for (Dim &dim : spec.dims)
      if (auto bound = sizes.find(dim.symbol); !dim.size && bound != sizes.end()) dim.size = bound->second;
  return specs;
}

std::string typeText(const InputSpec &spec) { return cli::describe(spec).substr(spec.name.size() + 2); }

using Ports = std::vector<std::pair<std::string, std::string>>; // names and types

Ports portsOf(const std::vector<InputSpec> &specs) {
  Ports ports;
  for (const InputSpec &spec : specs) ports.emplace_back(spec.name, typeText(spec));
  return ports;
}

int inspectModel(const InspectOptions &options, const Model &model) {
  EntryRequest entry{options.settings.entryDims().front(), options.settings.inputShapes(), {}};
  const auto declared = inputsOfCalls(model, options.settings, /*isOpen=*/true);
  std::vector<InputSpec> specs = takeTensors(declared, entry.dims);
  bindShapes(specs, entry.shapes, entry.dims);
  bindBatch(options, model, specs, entry);
  const std::map<std::string, int64_t> given = entry.dims;
  ModelSummary summary = summarizeSomehow(model, specs, entry, options.settings);
  // Where all sizes are given, those of the outputs follow; else names stand for what is open.
  Ports inputs = portsOf(withSizes(declared, given)), outputs = portsOf(withSizes(outputsOf(model), given));
  if (unboundSymbols(specs, given).empty())
    for (auto &[name, type] : outputs)
      if (auto found = summary.outputTypes.find(name); found != summary.outputTypes.end()) type = found->second;
  std::optional<MemoryNeeds> needs;
  if (wantsMemory(options)) needs = memoryNeeds(model, allEntries(options, specs, entry), options.settings);
  if (options.common.json()) {
    Json json = {{"model", model.path}};
    for (auto &[key, list] : {std::pair("inputs", &inputs), {"outputs", &outputs}}) {
      json[key] = Json::array();
      for (auto &[name, type] : *list) json[key].push_back({{"name", name}, {"type", type}});
    }
    json.update(toJson(summary));
    json["dims"] = Json::object();
    for (auto &[symbol, size] : entry.dims) json["dims"][symbol] = size;
    if (needs) json["memory"] = toJson(*needs);
    std::cout << toText(json) << '\n';
  } else {
    for (auto &[name, type] : inputs) std::cout << "input   " << name << ": " << type << '\n';
    for (auto &[name, type] : outputs) std::cout << "output  " << name << ": " << type << '\n';
    std::cout << summary.parameterElements << " parameters, " << formatBytes(double(summary.parameterBytes));
    if (!summary.isOutline) std::cout << "; " << formatCount(double(summary.flops), "FLOP") << " a call";
    std::cout << '\n';
    // Of one type there is nothing to tell.
    if (summary.bytesByType.size() > 1) {
      std::string text;
      for (auto &[type, bytes] : summary.bytesByType)
        text += (text.empty() ? "" : ", ") + type + " " + formatBytes(double(bytes));
      std::cout << "parameters and constants by type: " << text << '\n';
    }
    std::cout << '\n';
    if (options.params)
      printParameters(summary);
    else
      printOps(summary);
    if (options.memory) printMemory(*needs);
  }
  if (!options.graph.empty()) writeGraph(options.graph, graphToDot(model, entry, options.settings));
  if (needs) drawMemory(options, *needs);
  return kDone;
}

} // namespace

void addInspect(CLI::App &app, Invocation &invocation) {
  auto options = std::make_shared<InspectOptions>();
  CLI::App *command = addCommand(app, "inspect", "Shows what is inside of a model or a package",
                                 "  sprig inspect examples/digits/model.onnx --params\n"
                                 "  sprig inspect examples/digits/model.onnx --dim batch=8 --memory --graph digits.dot",
                                 options->common);
  command
      ->add_option("MODEL", options->model,
                   "an ONNX file, MLIR in the nn dialect (- reads standard input), or a package")
      ->required();
  command->add_flag("--params", options->params,
                    "a row for each parameter, with its type and bytes; of a package, with what it is");
  command->add_flag(
      "--memory", options->memory,
      "the plan of the arena: offset, size and life of each buffer; copies on devices, of what and for whom");
  command->add_option("--memory-plot", options->memoryPlot, "draws the arena over time to FILE.svg");
  command->add_option("--batch", options->batch,
                      "with --memory: size of the first dimension that has none, or auto for the largest that fits");
  command->add_option("--limit", options->limit,
                      "with --batch auto: bytes that constants, arena, inputs and outputs may take together, as 64MB "
                      "(default: this machine's memory)");
  command->add_option("--graph", options->graph, "draws the graph to FILE.dot or FILE.svg");
  addSettings(*command, options->settings);
  onRun(*command, invocation, [=] {
    if (!options->batch.empty() && !wantsMemory(*options))
      badUse("--batch " + options->batch + ": goes with --memory; --dim binds a size");
    if (!options->limit.empty() && options->batch != "auto")
      badUse("--limit " + options->limit + ": goes with --batch auto");
    Model model = openModel(options->model);
    return model.kind == ModelKind::package ? inspectPackage(*options, model) : inspectModel(*options, model);
  });
}

} // namespace sprig::cli
