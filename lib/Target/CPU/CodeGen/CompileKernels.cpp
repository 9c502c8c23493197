// All kernels of a program for all instruction sets: equal ones once, from the cache or on several threads, then
// linked.
#include "lib/Cache/FileCache.h"
#include "lib/Target/CPU/CodeGen/KernelLowering.h"
#include "lib/Target/CPU/CodeGen/KernelUnit.h"
#include "lib/Target/CPU/CodeGen/ObjectEmitter.h"
#include "lib/Target/CodeGen/KernelIdentity.h"
#include "lib/Target/CodeGen/ParallelJobs.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
// A unit for one target.
struct Job {
  const KernelUnit *unit;
  size_t target;
  int64_t flops;
  std::string key; // of its object in the cache
  std::string object;
  bool done = false;
};

std::string cacheKey(const KernelUnit &unit, const CpuArch &target, const CodeGenOptions &options) {
  std::string text;
  llvm::raw_string_ostream(text) << codeFingerprint() << '\n'
                                 << target.cpu << ' ' << target.features << ' ' << target.vectorRegisters << ' '
                                 << target.vectorBytes << ' ' << target.fma << ' ' << target.f16c << " O"
                                 << int(options.level) << (unit.launched ? " launched" : "")
                                 << (unit.called ? " called" : "") << '\n'
                                 << unit.stem;
  return contentHash(text);
}

class Compilation {
public:
  Compilation(ModuleOp program, ArrayRef<CpuArch> targets, const CodeGenOptions &options)
      : program(program), targets(targets), options(options) {}

  LogicalResult run();
  FailureOr<LinkedImage> link(size_t target);
  CodeGenCounts counts;

private:
  void takeFromCache();
  LogicalResult compileRest();
  using Emitters = std::vector<std::optional<ObjectEmitter>>; // of one thread, by target
  LogicalResult compile(Job &job, Emitters &emitters);
  InFlightDiagnostic report(size_t target) {
    return program.emitError("code generation for ") << targets[target].cpu << ": ";
  }

  ModuleOp program;
  ArrayRef<CpuArch> targets;
  const CodeGenOptions &options;
  KernelUnits units;
  std::vector<Job> jobs; // by target, then as the units are
  std::vector<std::unique_ptr<KernelLowering>> lowerings;
};

void Compilation::takeFromCache() {
  if (!options.cache) return;
  for (Job &job : jobs) {
    job.key = cacheKey(*job.unit, targets[job.target], options);
    if (auto object = options.cache->load(job.key)) {
      job.object = std::move(*object);
      job.done = true;
      ++counts.cached;
    }
  }
}

LogicalResult Compilation::compile(Job &job, Emitters &emitters) {
  const CpuArch &target = targets[job.target];
  auto stems = [&](exec::KernelOp kernel) { return units.stemOf(kernel); };
  auto module = emitUnit(*job.unit, stems, target, *lowerings[job.target]);
  if (failed(module)) return failure();
  std::optional<ObjectEmitter> &emitter = emitters[job.target];
  if (!emitter) {
    auto made = ObjectEmitter::create(target, options.level);
    if (!made) return report(job.target) << llvm::toString(made.takeError());
    emitter.emplace(std::move(*made));
  }
  auto object = emitter->translate(**module, CodeForm::Object);
  if (!object) return report(job.target) << llvm::toString(object.takeError());
  job.object = std::move(*object);
  job.done = true;
  if (options.cache) options.cache->store(job.key, job.object);
  return success();
}

LogicalResult Compilation::compileRest() {
  std::vector<Job *> rest;
  for (Job &job : jobs)
    if (!job.done) rest.push_back(&job);
  if (rest.empty()) return success();
  MLIRContext *context = program.getContext();
  lowerings.resize(targets.size());
  for (Job *job : rest)
    if (!lowerings[job->target])
      lowerings[job->target] = std::make_unique<KernelLowering>(context, targets[job->target]);

  // What computes most tends to be most code: first, so that no thread is left alone with it at the end.
  std::sort(rest.begin(), rest.end(),
            [](Job *a, Job *b) { return std::make_pair(-a->flops, a) < std::make_pair(-b->flops, b); });
  size_t workers = workersFor(rest.size(), options.workers);
  std::vector<Emitters> emitters(workers);
  for (Emitters &own : emitters) own.resize(targets.size());
  return runJobs(context, rest.size(), workers,
                 [&](size_t job, size_t worker) { return compile(*rest[job], emitters[worker]); });
}

LogicalResult Compilation::run() {
  units = findKernelUnits(program);
  for (size_t target = 0; target < targets.size(); ++target)
    for (const KernelUnit &unit : units.units)
      if (unit.launched || unit.called)
        jobs.push_back({&unit, target, int64_t(exec::KernelOp(unit.kernel).getFlops()), {}, {}});
  counts.kernels = jobs.size();
  takeFromCache();
  return compileRest();
}

FailureOr<LinkedImage> Compilation::link(size_t target) {
  std::vector<llvm::MemoryBufferRef> objects;
  for (const Job &job : jobs)
    if (job.target == target) objects.emplace_back(job.object, "kernels");
  std::vector<std::string> names;
  SmallVector<exec::KernelOp> launched = exec::launchedKernels(program);
  for (exec::KernelOp kernel : launched) names.push_back(unitFunctionName(units.units[units.unitOf.lookup(kernel)]));
  auto image = linkImage(objects, names);
  if (!image) return report(target) << llvm::toString(image.takeError());
  llvm::StringMap<std::string> kernelOf; // by the name of its unit
  for (auto [symbol, kernel] : llvm::zip_equal(image->symbols, launched)) {
    kernelOf[symbol.name] = kernel.getSymName().str();
    symbol.name = kernelFunctionName(kernel);
  }
  for (LinkedImage::Symbol &function : image->functions)
    if (auto found = kernelOf.find(function.name); found != kernelOf.end()) function.name = found->second;
  return std::move(*image);
}
} // namespace

CodeGenOptions sprig::cpu::codeGenOptions(const CompileOptions &options) {
  static const CodeGenLevel levels[] = {CodeGenLevel::None, CodeGenLevel::Less, CodeGenLevel::Default,
                                        CodeGenLevel::Aggressive};
  CodeGenOptions codegen;
  codegen.level = levels[std::clamp(options.optimization, 0, 3)];
  codegen.workers = options.compileThreads;
  return codegen;
}

FailureOr<std::vector<LinkedImage>> sprig::cpu::compileKernels(ModuleOp program, ArrayRef<CpuArch> targets,
                                                               const CodeGenOptions &options, CodeGenCounts *counts) {
  Compilation compilation(program, targets, options);
  if (failed(compilation.run())) return failure();
  std::vector<LinkedImage> images;
  for (size_t i = 0; i < targets.size(); ++i) {
    auto image = compilation.link(i);
    if (failed(image)) return failure();
    images.push_back(std::move(*image));
  }
  if (counts) *counts = compilation.counts;
  return images;
}
