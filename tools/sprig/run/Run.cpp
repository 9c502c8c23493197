// sprig run: compiles if needed, runs once, prints and keeps the outputs.
#include "lib/Data/ArrayFile.h"
#include "lib/Data/Counted.h"
#include "lib/Data/File.h"
#include "tools/sprig/Command.h"
#include "tools/sprig/Model.h"
#include "tools/sprig/run/RandomInputs.h"
#include "tools/sprig/run/RankedModel.h"
#include "tools/sprig/simulate/GivenTopology.h"
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <memory>
#include <set>

namespace fs = std::filesystem;
namespace sprig::cli {
namespace {

struct RunOptions {
  CommonOptions common;
  Settings settings;
  std::string model, outputDir;
  std::vector<std::string> inputs;
  std::optional<uint64_t> seed;
  MeshFlags mesh;
};

struct Summary {
  double min = 0, max = 0, mean = 0;
  std::vector<double> first;
};

Summary summarize(const data::Array &array) {
  Summary summary;
  int64_t count = array.elements();
  double sum = 0;
  for (int64_t i = 0; i < count; ++i) {
    double value = array.at(i);
    if (i == 0) summary.min = summary.max = value;
    // A NaN shows in all three.
    summary.min = value < summary.min || std::isnan(value) ? value : summary.min;
    summary.max = value > summary.max || std::isnan(value) ? value : summary.max;
    sum += value;
    if (i < 8) summary.first.push_back(value);
  }
  summary.mean = count ? sum / double(count) : 0;
  return summary;
}

// bf16 has no .npy; it goes out as safetensors.
fs::path outputFile(const fs::path &folder, const data::Array &array) {
  return folder / (data::encodeFileName(array.name) + (array.dtype == data::DType::bf16 ? ".safetensors" : ".npy"));
}

void printOutputs(const std::vector<data::Array> &outputs, bool json, Json document) {
  Json list = Json::array();
  Table table({"output", "type", "min", "max", "mean", "first values"});
  for (const data::Array &array : outputs) {
    Summary s = summarize(array);
    bool empty = array.elements() == 0;
    std::string first;
    for (double value : s.first) first += (first.empty() ? "" : " ") + formatDouble(value);
    if (array.elements() > 8) first += " ...";
    table.add({array.name, data::describe(array), empty ? "-" : formatDouble(s.min), empty ? "-" : formatDouble(s.max),
               empty ? "-" : formatDouble(s.mean), first});
    Json item = {{"name", array.name}, {"dtype", data::name(array.dtype)}, {"shape", array.shape}};
    if (!empty) item.update({{"min", s.min}, {"max", s.max}, {"mean", s.mean}, {"first", s.first}});
    list.push_back(item);
  }
  document["outputs"] = std::move(list);
  if (json)
    std::cout << toText(document) << '\n';
  else
    table.print();
}

void writeOutputs(const std::string &folder, const std::vector<data::Array> &outputs) {
  if (folder.empty()) return;
  std::set<fs::path> files;
  for (const data::Array &array : outputs)
    if (!files.insert(outputFile(folder, array)).second)
      badInput("two outputs are called '" + array.name + "', and each is a file of its name");
  data::makeFolder(folder);
  for (const data::Array &array : outputs) data::writeArrays(outputFile(folder, array), {&array, 1});
}

// Several ranks: the first prints and writes.
int runRanks(const RunOptions &options, const Model &model) {
  RankedModel ranked(model, options.mesh, options.settings);
  BoundInputs bound = bindInputs(ranked.inputSpecs(), options.inputs, options.seed, options.settings);
  if (options.seed) drawIndices(ranked.runners(bound.entry).front(), options.inputs, *options.seed, bound.arrays);
  std::vector<data::Array> outputs = ranked.run(bound);
  if (!ranked.isFirst()) return kDone;
  data::cutToCounts(outputs);
  if (isVerbose()) inform("ran on " + ranked.describe() + "; peak memory " + formatBytes(double(peakMemory())));
  printOutputs(outputs, options.common.json(), Json::object());
  writeOutputs(options.outputDir, outputs);
  return kDone;
}

int run(const RunOptions &options) {
  options.settings.checkDevicesCompute();
  Model model = openModel(options.model);
  if (RankedModel::isOf(model, options.mesh, options.settings)) return runRanks(options, model);
  RankedModel::refuseRanksOf(model, options.mesh, options.settings);
  std::optional<Runner> runner;
  if (model.kind == ModelKind::package) {
    runner = compileAndLoad(model, {}, options.settings);
    if (RankedModel::isIn(*runner)) return runRanks(options, model);
  }
  auto specs = runner ? inputsOfCalls(*runner, model, options.settings)
                      : inputsOfCalls(model, options.settings, /*isOpen=*/true);
  BoundInputs bound = bindInputs(specs, options.inputs, options.seed, options.settings);
  if (!runner) runner = compileAndLoad(model, {bound.entry}, options.settings);
  if (options.seed) drawIndices(*runner, options.inputs, *options.seed, bound.arrays);
  std::vector<data::Array> outputs = runner->run(bound.arrays);
  data::cutToCounts(outputs);
  if (isVerbose()) inform(runner->describeLastRun() + "; peak memory " + formatBytes(double(peakMemory())));
  // What was computed is said even where it cannot be kept.
  Json document = Json::object();
  explainPlacement(options.settings, *runner, options.common.json() ? &document : nullptr);
  printOutputs(outputs, options.common.json(), document);
  writeOutputs(options.outputDir, outputs);
  return kDone;
}

} // namespace

void addRun(CLI::App &app, Invocation &invocation) {
  auto options = std::make_shared<RunOptions>();
  CLI::App *command =
      addCommand(app, "run", "Compiles a model if needed and runs it once",
                 "  sprig run examples/digits/model.onnx --random-inputs 1\n"
                 "  sprig run examples/digits/model.onnx --input examples/digits/data/input_0.npy --output-dir out",
                 options->common);
  command
      ->add_option("MODEL", options->model,
                   "an ONNX file, MLIR in the nn dialect (- reads standard input), or a package")
      ->required();
  addInputs(*command, options->inputs);
  command->add_option("--random-inputs", options->seed, "fills the inputs that are not given, from this seed");
  command->add_option("--output-dir", options->outputDir, "folder for whole outputs, NAME.npy each");
  addSettings(*command, options->settings);
  addPin(*command, options->settings);
  addLinks(*command, options->settings);
  addSplit(*command, options->mesh);
  onRun(*command, invocation, [=] {
    takeTopology(options->settings);
    return run(*options);
  });
}

} // namespace sprig::cli
