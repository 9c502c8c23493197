// sprig compile: a model to a package, or to one of the forms in between.
#include "lib/Data/File.h"
#include "lib/Machine/Cpu.h"
#include "lib/Training/ReadTrainConfig.h"
#include "runtime/base/Decimal.h"
#include "tools/sprig/Command.h"
#include "tools/sprig/MeshFlags.h"
#include "tools/sprig/Model.h"
#include "tools/sprig/inspect/CudaKernels.h"
#include "tools/sprig/inspect/PackageReport.h"
#include "tools/sprig/shard/ShardModel.h"
#include "tools/sprig/train/StepsPerCall.h"
#include "tools/sprig/train/TrainModel.h"
#include "tools/sprig/train/TrainProgram.h"
#include "tools/sprig/train/TrainSet.h"
#include "tools/sprig/simulate/GivenTopology.h"
#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <iostream>
#include <memory>

namespace sprig::cli {
namespace {

struct CompileCommandOptions {
  CommonOptions common;
  Settings settings;
  std::string model, output, emit = "package";
  std::string train; ///< a training configuration: the package trains
  std::optional<int64_t> samples, evaluationSamples;
  std::vector<int64_t> inferences;
  bool gradientNorm = false;
  MeshFlags mesh;
  StepsPerCall stepsPerCall;
  std::vector<std::string> allow; ///< what an exporter may have done to the model
};

void printReport(const CompileCommandOptions &options, const Compiled &compiled, const Runner &runner) {
  sprig_rt_package_info info;
  sprig_rt_package_describe(runner.package(), &info);
  Json sections = Json::array(), phases = Json::array();
  Table table({"section", "size"});
  for (uint32_t i = 0; i < info.section_count; ++i) {
    sprig_rt_section_info section;
    check(sprig_rt_package_section(runner.package(), i, &section));
    std::string name = section.kind;
    for (uint32_t k = 0; k < info.image_count; ++k) {
      sprig_rt_image_info image;
      check(sprig_rt_package_image(runner.package(), k, &image));
      if (image.section != i) continue;
      name += std::string(" ") + image.isa;
      if (*image.features) name += std::string(" with ") + image.features;
    }
    table.add({name, formatBytes(double(section.size))});
    sections.push_back({{"kind", name}, {"bytes", section.size}});
  }
  table.add({"header and padding", formatBytes(double(bytesBesideSections(runner)))});
  double total = 0;
  Table times({"phase", "ms"});
  for (const PhaseTime &phase : compiled.phases) {
    times.add({phase.phase, decimal::fixed(phase.milliseconds, 1)});
    phases.push_back({{"phase", phase.phase}, {"ms", phase.milliseconds}});
    total += phase.milliseconds;
  }
  std::vector<CudaImageReport> gpuKernels;
  if (isVerbose()) gpuKernels = cudaKernels(std::as_bytes(std::span(compiled.package)));
  if (options.common.json()) {
    Json document = {{"output", options.output},
                     {"bytes", compiled.package.size()},
                     {"entries", info.entry_count},
                     {"kernels", info.kernel_count},
                     {"sections", sections},
                     {"bytes_beside_sections", bytesBesideSections(runner)},
                     {"phases", phases}};
    if (!gpuKernels.empty()) document["gpu_kernels"] = toJson(gpuKernels);
    if (options.settings.explainPlacement) explain(compiled.placements, &document);
    std::cout << toText(document) << '\n';
    return;
  }
  if (options.settings.explainPlacement) explain(compiled.placements, nullptr);
  std::cout << options.output << ": " << formatBytes(double(compiled.package.size())) << ", " << info.entry_count
            << (info.entry_count == 1 ? " entry, " : " entries, ") << info.kernel_count
            << (info.kernel_count == 1 ? " kernel" : " kernels") << ", compiled in " << formatNanoseconds(total * 1e6)
            << '\n';
  table.print();
  times.print();
  print(gpuKernels);
}

// Steps and evaluations for data sets of the given sizes; without them, of whole batches.
TrainRequest requestTraining(const CompileCommandOptions &options, int ranks, const RankLink &link) {
  if (options.mesh.measuresShares() || !options.mesh.weights(ranks).empty())
    unsupported("--shares " + options.mesh.shares +
                ": a package has one step for all ranks, whose shares are even; 'sprig "
                "train' compiles each rank's own");
  TrainRequest request;
  request.ranks = ranks;
  static_cast<StepChoices &>(request) = options.mesh.choices();
  if (ranks > 1) request.link = link;
  request.stepsPerCall = options.stepsPerCall.count(options.settings);
  request.config = training::readTrainConfig(options.train);
  training::TrainConfig &config = request.config;
  int64_t each = config.batch * config.accumulate;
  if (!options.samples && (config.epochs || config.schedule.perEpoch))
    badUse(options.train + ": counts in epochs, so --samples N is needed: the number of samples "
                           "of the data that the package is going to be trained on");
  training::resolve(config, options.samples.value_or(each * std::min(config.steps.value_or(1), INT64_MAX / each)));
  request.steps = options.samples ? partSizes(*options.samples, each, config.dropLast) : std::vector<int64_t>{each};
  int64_t batch = config.evalBatch.value_or(config.batch);
  request.evaluations =
      options.evaluationSamples ? partSizes(*options.evaluationSamples, batch, false) : std::vector<int64_t>{batch};
  request.samples = options.samples.value_or(each);
  request.inferences = options.inferences;
  request.withNorm = options.gradientNorm;
  request.allow = options.allow;
  return request;
}

void writeText(const CompileCommandOptions &options, const std::string &text) {
  if (!options.output.empty() && options.output != "-")
    data::writeFile(options.output, text);
  else if (options.settings.compileTo.empty() && (options.emit == "object" || options.emit == "shared"))
    data::writeStandardOutput(text);
  else
    std::cout << text;
}

// A model is split or its training is divided by samples.
void checkSplit(const CompileCommandOptions &options) {
  std::string flag = "--shard " + options.mesh.shardings.front();
  if (options.mesh.mesh.empty()) badUse(flag + ": names axes of --mesh, which is not given");
  std::pair<const char *, bool> others[] = {
      {"--train", !options.train.empty()},         {"--strategy", !options.mesh.strategy.empty()},
      {"--bucket", !options.mesh.bucket.empty()},  {"--factors", !options.mesh.factors.empty()},
      {"--zero", options.mesh.zero != 0},          {"--shares", !options.mesh.shares.empty()},
      {"--allow-gather", options.mesh.allowGather}};
  for (auto &[other, isGiven] : others)
    if (isGiven) badUse(flag + ": splits a model that is called, which " + other + " has no meaning for");
}

int compileCommand(CompileCommandOptions options) {
  options.settings.checkDeviceNames();
  bool splits = options.mesh.splitsModel();
  if (splits) checkSplit(options);
  options.mesh.runsModel = splits;
  int ranks = options.mesh.ranks(options.settings);
  if (options.mesh.isGiven() && options.train.empty() && !splits)
    badUse("--strategy and --mesh are for packages that train: --train CONFIG; a model that is "
           "called is split over a mesh by --shard NAME=AXIS,-,...");
  if (!options.settings.states.empty() && (splits || !options.train.empty()))
    unsupported("--state " + options.settings.states.front() + ": of " +
                (splits ? "a model that is split over ranks" : "a package that trains") + " inputs are no state");
  RankLink link = machine::usualLink();
  if (ranks > 1) link = givenOr(link, options.settings, ranks);
  options.settings = settingsOfRank(options.settings, {.ranks = ranks, .here = ranks});
  Model model = openModel(options.model);
  if (model.kind == ModelKind::package) badUse(options.model + ": is a package already");
  bool trains = !options.train.empty();
  if (!trains &&
      (options.samples || options.evaluationSamples || !options.inferences.empty() || !options.allow.empty()))
    badUse("--samples, --eval-samples, --infer and --allow are for packages that train: --train CONFIG");
  if (!trains && options.stepsPerCall.given())
    badUse("--steps-per-call " + std::to_string(*options.stepsPerCall.given()) +
           ": is for packages that train: --train CONFIG");
  TrainRequest training;
  std::vector<EntryRequest> entries;
  if (trains)
    training = requestTraining(options, ranks, link);
  else if (splits && options.settings.compileFrom.empty())
    entries.push_back(entryToSplit(model, options.settings));
  else
    entries = requestEntries(model, options.settings);
  ShardRequest request{options.mesh.mesh, options.mesh.shardings, /*rank=*/-1};
  const ShardRequest *split = splits ? &request : nullptr;
  if (options.emit != "package" || !options.settings.compileTo.empty()) {
    if (options.settings.explainPlacement && options.common.json())
      badUse(
          "--explain-placement: with --format json it goes into the document of a package; with --" +
          (options.settings.compileTo.empty() ? "emit " + options.emit : "compile-to " + options.settings.compileTo) +
          " there is none");
    if (trains && options.emit != "package" && options.emit != "mlir")
      badUse("--emit " + options.emit + ": a package that trains has the forms package and mlir");
    writeText(options, trains ? trainingToText(model, training, options.settings)
                              : compileToText(model, entries, options.settings, options.emit, split));
    return kDone;
  }
  if (options.output.empty()) badUse("-o FILE.sprig is missing: where to write the package");
  const std::vector<std::string> &cpus = machine::packagedCpus();
  Compiled compiled = trains ? compileTraining(model, training, options.settings, cpus)
                             : compile(model, entries, options.settings, cpus, split);
  // What was made is verified as the runtime will do it before it is written. The null device needs no code for this
  // machine.
  Runner runner = Runner::loadInPlace(compiled.package, options.output, {1, "null"});
  if (trains && ranks > 1 && !TrainProgram::isOfAnyRank(runner))
    unsupported(options.output + ": the " + std::to_string(ranks) + " ranks' steps differ (by dropout, or shares of " +
                "other sizes), which one package does not hold\nnote: 'sprig train --mesh' compiles each rank's");
  data::writeFile(options.output, {reinterpret_cast<const char *>(compiled.package.data()), compiled.package.size()});
  printReport(options, compiled, runner);
  return kDone;
}

} // namespace

void addCompile(CLI::App &app, Invocation &invocation) {
  auto options = std::make_shared<CompileCommandOptions>();
  CLI::App *command = addCommand(app, "compile", "Compiles a model ahead of time to a package",
                                 "  sprig compile examples/digits/model.onnx --dim batch=1,64 -o digits.sprig\n"
                                 "  sprig compile examples/digits/model.onnx --dim batch=1 --emit mlir\n"
                                 "  sprig compile examples/digits/model.onnx --dim batch=64 --mesh data=2,model=2 "
                                 "--shard image=data,-,-,- --shard fc.weight=-,model -o digits4.sprig",
                                 options->common);
  command->add_option("MODEL", options->model, "an ONNX file, or MLIR in the nn dialect (- reads standard input)")
      ->required();
  command->add_option("-o,--output", options->output,
                      "file to write (text forms go to standard output without it, or with -)");
  addChoice(*command, "--emit", options->emit, {"package", "mlir", "llvm", "asm", "object", "header", "shared", "ptx"},
            "package, mlir (as imported), llvm, asm, object, header or shared; of cuda ptx, for its first "
            "architecture");
  command->add_option("--train", options->train,
                      "training configuration (JSON, see 'sprig train --config-help'): the package has entries "
                      "train_step and evaluate, which share their state");
  command
      ->add_option("--samples", options->samples, "with --train: samples of the data set; gives an epoch's last step")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 48));
  command->add_option("--eval-samples", options->evaluationSamples, "with --train: samples of the evaluation set")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 48));
  command->add_option("--infer", options->inferences, "with --train: batches of entries that infer with the same state")
      ->delimiter(',')
      ->check(CLI::Range(int64_t(1), int64_t(1) << 48));
  command->add_flag("--grad-norm", options->gradientNorm, "with --train: steps give the norm of the gradient, too");
  addAllow(*command, options->allow);
  addSettings(*command, options->settings);
  addRepeated(*command, "--state", options->settings.states,
              "an input that an output of the call before is: INPUT=OUTPUT, or past_key_values.*=present.* for "
              "many; it becomes state of the package, zeros at first, and no argument");
  addLinksToPlace(*command, options->settings);
  addMesh(*command, options->mesh);
  options->stepsPerCall.addTo(*command);
  addShardings(*command, options->mesh.shardings);
  onRun(*command, invocation, [=] {
    takeTopologyToPlace(options->settings);
    return compileCommand(*options);
  });
}

} // namespace sprig::cli
