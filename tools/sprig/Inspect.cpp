// sprig inspect: what is inside of a model or a package.
#include "lib/Data/File.h"
#include "tools/sprig/Command.h"
#include "tools/sprig/ImportModel.h"
#include "tools/sprig/ModelReport.h"
#include "tools/sprig/PackageReport.h"
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <memory>
#include <unistd.h>

namespace fs = std::filesystem;
namespace sprig::cli {
namespace {

struct Options {
  CommonOptions common;
  Settings settings;
  std::string model, graph, memoryPlot;
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
    throw Error(ErrorKind::unsupported, "drawing SVG needs Graphviz's 'dot' on the PATH; FILE.dot works without it");
  }
  auto bytes = data::readFile(target);
  fs::remove(target, error);
  return {bytes.begin(), bytes.end()};
}

void writeGraph(const std::string &file, const std::string &dot) {
  bool svg = file.ends_with(".svg");
  if (!svg && !file.ends_with(".dot"))
    throw Error(ErrorKind::usage, "--graph " + file + ": expected the ending .dot or .svg");
  data::writeFile(file, svg ? renderSvg(dot) : dot);
}

void reportMemory(const Options &options, const Runner &runner) {
  for (size_t entry = 0; entry < runner.entryCount(); ++entry) {
    MemoryPlan plan = memoryPlan(runner, entry);
    if (options.memory && !options.common.json()) printMemoryPlan(plan);
    if (!options.memoryPlot.empty() && entry == 0) data::writeFile(options.memoryPlot, memoryPlanToSvg(plan));
  }
}

int inspectPackage(const Options &options) {
  if (!options.graph.empty() || options.params)
    throw Error(ErrorKind::usage, options.model + ": --graph and --params need the model, not a package");
  // A package for another machine can be looked at too: the null device loads no code.
  Runner runner = Runner::load(options.model, {1, "null"});
  if (options.common.json())
    std::cout << packageToJson(runner).dump(2) << '\n';
  else
    printPackage(runner);
  reportMemory(options, runner);
  return kDone;
}

int inspectModel(const Options &options, const Model &model) {
  auto specs = inputsOf(model);
  EntryRequest entry{options.settings.entryDims().front(), options.settings.inputShapes(), {}};
  bindShapes(specs, entry.shapes, entry.dims);
  for (const std::string &symbol : unboundSymbols(specs, entry.dims)) {
    inform("dimension '" + symbol + "' is not bound: taking 1 (--dim " + symbol + "=N binds it)");
    entry.dims[symbol] = 1;
  }
  ImportedModel imported(model, {entry}, options.settings);
  std::string name = imported.entryNames().front();
  ModelSummary summary = summarize(imported.module(), name);
  if (options.common.json()) {
    Json json = {{"model", model.path}};
    for (auto &[key, list] :
         {std::pair<std::string, std::vector<InputSpec>>{"inputs", specs}, {"outputs", outputsOf(model)}}) {
      json[key] = Json::array();
      for (auto &spec : list)
        json[key].push_back({{"name", spec.name}, {"type", cli::describe(spec).substr(spec.name.size() + 2)}});
    }
    json.update(toJson(summary));
    std::cout << json.dump(2) << '\n';
  } else {
    for (auto &spec : specs) std::cout << "input   " << cli::describe(spec) << '\n';
    for (auto &spec : outputsOf(model)) std::cout << "output  " << cli::describe(spec) << '\n';
    std::cout << summary.parameterElements << " parameters, " << formatBytes(double(summary.parameterBytes)) << "; "
              << formatCount(double(summary.flops), "FLOP") << " a call\n\n";
    if (options.params)
      printParameters(summary);
    else
      printOps(summary);
  }
  if (!options.graph.empty()) writeGraph(options.graph, graphToDot(imported.module(), name));
  if (options.memory || !options.memoryPlot.empty())
    reportMemory(options,
                 Runner::load(compile(model, {entry}, options.settings, {"native"}).package, model.path, {1, "null"}));
  return kDone;
}

} // namespace

void addInspect(CLI::App &app, Invocation &invocation) {
  auto options = std::make_shared<Options>();
  CLI::App *command = addCommand(app, "inspect", "Shows what is inside of a model or a package",
                                 "  sprig inspect examples/digits/model.onnx --params\n"
                                 "  sprig inspect examples/digits/model.onnx --dim batch=8 --memory --graph digits.dot",
                                 options->common);
  command
      ->add_option("MODEL", options->model,
                   "an ONNX file, MLIR in the nn dialect (- reads standard input), or a package")
      ->required();
  command->add_flag("--params", options->params, "a row for each parameter, with its bytes");
  command->add_flag("--memory", options->memory, "the plan of the arena: offset, size and life of each buffer");
  command->add_option("--memory-plot", options->memoryPlot, "draws the arena over time to FILE.svg");
  command->add_option("--graph", options->graph, "draws the graph to FILE.dot or FILE.svg");
  addSettings(*command, options->settings);
  command->callback([=, &invocation] {
    invocation.run = [=] {
      Model model = openModel(options->model);
      return model.kind == ModelKind::package ? inspectPackage(*options) : inspectModel(*options, model);
    };
  });
}

} // namespace sprig::cli
