// From a model to a package or to text, by the pipeline.
#include "lib/JIT/TimePackage.h"
#include "lib/Pipeline/Emit.h"
#include "lib/Target/CUDA/CudaArch.h"
#include "lib/Target/Registry.h"
#include "sprig/rt/links.hpp"
#include "tools/sprig/compile/CompileSettings.h"
#include "tools/sprig/compile/ImportModel.h"
#include "tools/sprig/Model.h"
#include "tools/sprig/shard/ShardModel.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <filesystem>

namespace sprig::cli {
namespace {

std::string print(mlir::ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  module.print(stream);
  return text + "\n";
}

// What to compile for on the GPUs that --devices names: for each the newest architecture that is not above its own, as
// code and PTX of older ones run on it; none where they are not here.
std::vector<std::string> architecturesOfGpus(const Settings &settings) {
  std::vector<std::string> names;
  for (const machine::Gpu &gpu : settings.gpusHere()) {
    const cuda::CudaArch *newest = nullptr;
    for (const cuda::CudaArch &arch : cuda::cudaArchs())
      if (std::pair(arch.major, arch.minor) <= std::pair(gpu.major, gpu.minor)) newest = &arch;
    if (!newest)
      unsupported("--devices " + settings.givenDevices() + ": " + gpu.name + " is " + gpu.architecture() +
                  ", code is generated from " + cuda::cudaArchs().front().name() + " on");
    if (!llvm::is_contained(names, newest->name())) names.push_back(newest->name());
  }
  return names;
}

// For the processor and GPUs beside it: what --cpu says and what was named of GPUs.
void takeBoth(const Settings &settings, const std::vector<std::string> &cpus,
              const std::vector<std::string> &architectures, CompileOptions &options) {
  options.target = "cpu+cuda";
  options.architectures = settings.cpus.empty() ? cpus : settings.cpus;
  options.architectures.insert(options.architectures.end(), architectures.begin(), architectures.end());
}

// What --target names: a kind, and architectures of it where there are some ("cuda:sm_80,sm_90").
void takeTarget(const Settings &settings, const std::vector<std::string> &cpus, CompileOptions &options) {
  std::vector<std::string> architectures, targets = settings.targets;
  bool areMixed = settings.namesGpusBesideCpus();
  if (targets.empty() && (settings.namesGpus() || areMixed)) {
    targets = {"cuda"};
    architectures = architecturesOfGpus(settings);
  }
  for (size_t i = 0; i < targets.size(); ++i) {
    auto [kind, names] = llvm::StringRef(targets[i]).split(':');
    if (i > 0 && kind != options.target && !areMixed)
      unsupported("--target: a package is for one kind of device unless --devices names both, as cpu,cuda:0");
    options.target = kind.str();
    if (auto target = targetByKind(kind); !target)
      unsupported("--target " + targets[i] + ": " + llvm::toString(target.takeError()));
    llvm::SmallVector<llvm::StringRef> list;
    names.split(list, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    if (list.empty() && targets[i].find(':') != std::string::npos)
      badUse("--target " + targets[i] + ": expected architectures behind the colon, as cuda:sm_90");
    for (llvm::StringRef name : list) architectures.push_back(name.str());
  }
  if (areMixed) return takeBoth(settings, cpus, architectures, options);
  bool isCpu = options.target == CompileOptions().target;
  if (!settings.cpus.empty() && !isCpu)
    badUse("--cpu: --target " + options.target + " is no processor; its architectures are named as " + options.target +
           ":" + targetOf(options).packagedArchitectures().front());
  if (!settings.cpus.empty() && !architectures.empty())
    badUse("--target " + targets.front() + " and --cpu both name instruction sets");
  if (architectures.empty() && !isCpu) architectures = targetOf(options).packagedArchitectures();
  options.architectures = !architectures.empty() ? architectures : !settings.cpus.empty() ? settings.cpus : cpus;
}

Precision precisionOf(const Settings &settings) {
  if (settings.precision == "f32") return Precision::f32;
  if (settings.precision == "tf32") return Precision::tf32;
  if (settings.precision == "bf16") return Precision::bf16;
  unsupported("--precision " + settings.precision +
              ": is not there yet; there are f32, with --target cpu bf16, and with --target cuda tf32");
}

} // namespace

CompileOptions compileOptions(const Model &model, const Settings &settings, const std::vector<std::string> &cpus) {
  CompileOptions options;
  takeTarget(settings, cpus, options);
  options.threads = settings.laneCount();
  options.lanes = settings.lanes;
  options.devices = settings.compileDevices();
  for (const std::string &link : settings.links) {
    rt::GivenLink given;
    if (std::string why = rt::parseGivenLink(link, given); !why.empty()) badUse("--link " + link + ": " + why);
    options.links.push_back(link);
  }
  options.places = settings.placedLayers();
  if (!options.places.empty() && options.devices.empty())
    badUse("--place " + settings.places.front() +
           ": there is one device; --devices cpu:0,cpu:1 names several to place on");
  options.optimization = settings.level;
  options.fuse = settings.level > 0;
  options.merge = settings.merge;
  options.math = settings.math == "strict" ? MathMode::strict : MathMode::fast;
  options.precision = precisionOf(settings);
  options.compileFrom = settings.compileFrom;
  options.compileTo = settings.compileTo;
  options.dumpPhases = settings.dumpPhases;
  options.remarks = settings.remarks;
  options.tuneSeconds = settings.tuneSeconds;
  options.compileThreads = settings.jobs;
  options.cacheFolder = settings.cacheFolder();
  options.cacheBytes = settings.cacheBytes();
  options.reportDetails = isVerbose();
  options.modelName = model.path == "-" ? "standard input" : std::filesystem::path(model.path).filename().string();
  return options;
}

LineSink remarkSink(const Settings &settings) { return settings.remarks.empty() ? inform : say; }

Compiled compile(const Model &model, const std::vector<EntryRequest> &entries, const Settings &settings,
                 const std::vector<std::string> &cpus, const ShardRequest *split) {
  if (!settings.compileTo.empty() && settings.compileTo != "package")
    badUse("--compile-to " + settings.compileTo + ": stops before there is a package; 'sprig compile' prints the IR");
  auto start = std::chrono::steady_clock::now();
  ImportedModel imported(model, entries, settings);
  double importMs = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  Compiled compiled;
  CompileOptions options = compileOptions(model, settings, cpus);
  if (split) takeShards(*split, options);
  if (settings.explainPlacement)
    options.explainPlacement = [&](const Placement &placement) { compiled.placements.push_back(placement); };
  CompileResult result =
      compileModule(imported.module(), options, remarkSink(settings), packageTimer(settings.laneCount()));
  compiled.package = std::move(result.package);
  compiled.phases.push_back({"import", importMs});
  for (auto &time : result.times) compiled.phases.push_back({time.phase, time.seconds * 1e3});
  return compiled;
}

std::string compileToText(const Model &model, const std::vector<EntryRequest> &entries, const Settings &settings,
                          const std::string &emit, const ShardRequest *split) {
  ImportedModel imported(model, entries, settings);
  CompileOptions options = compileOptions(model, settings, {"native"});
  if (split) takeShards(*split, options);
  std::vector<Placement> placements;
  if (settings.explainPlacement)
    options.explainPlacement = [&](const Placement &placement) { placements.push_back(placement); };
  checkOptions(imported.module(), options);
  if (!settings.compileTo.empty()) {
    if (settings.compileTo != "import") compileModule(imported.module(), options, remarkSink(settings));
    if (settings.explainPlacement) explain(placements, nullptr);
    return print(imported.module());
  }
  if (emit == "mlir") return print(imported.module());
  std::string text = emitText(imported.module(), options, emit, remarkSink(settings));
  if (settings.explainPlacement) explain(placements, nullptr);
  return text;
}

} // namespace sprig::cli
