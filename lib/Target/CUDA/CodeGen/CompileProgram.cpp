#include "lib/Target/CUDA/CodeGen/CompileProgram.h"
#include "dialects/Exec/Exec.h"
#include "lib/Cache/FileCache.h"
#include "lib/Target/CUDA/CodeGen/GpuLowering.h"
#include "lib/Target/CUDA/CodeGen/PtxEmitter.h"
#include "lib/Target/CodeGen/KernelIdentity.h"
#include "lib/Target/CodeGen/ParallelJobs.h"
#include "mlir/IR/Verifier.h"
#include "sprig/error.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Config/llvm-config.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

static StringRef codeFingerprint() {
  // Made by the build (cmake/SprigFingerprint.cmake).
  static const std::string text = std::string(
#include "lib/Target/CUDA/CodeGen/Fingerprint.inc"
                                      ) +
                                  " LLVM " LLVM_VERSION_STRING;
  return text;
}

namespace {
// A kernel of the program; of those that are equal the first.
struct Unit {
  exec::KernelOp kernel;
  std::string stem;     // a hash of it: what its function is called until all are put together
  std::string function; // what it is called then
};

// A unit for one architecture.
struct Job {
  const Unit *unit;
  size_t arch;
  LaunchShape launch;
  std::string text;
  bool done = false;
};

class Compilation {
public:
  Compilation(ModuleOp program, ArrayRef<CudaArch> archs, const CudaCodeGenOptions &options, EmitCudaKernel emit)
      : program(program), archs(archs), options(options), emit(emit), kernels(exec::launchedKernels(program)) {}

  FailureOr<std::vector<PtxProgram>> run();
  CodeGenCounts counts;

private:
  void findUnits();
  std::string cacheKey(const Job &job) const;
  bool takeFromCache(Job &job) const;
  LogicalResult compile(Job &job, const GpuLowering &lowering, std::vector<std::optional<PtxEmitter>> &emitters) const;
  PtxProgram join(size_t arch) const;

  ModuleOp program;
  ArrayRef<CudaArch> archs;
  const CudaCodeGenOptions &options;
  EmitCudaKernel emit;
  SmallVector<exec::KernelOp> kernels;
  std::vector<Unit> units;
  std::vector<size_t> unitOf; // of kernels
  std::vector<Job> jobs;      // by architecture, then as the units are
};
} // namespace

static std::string stemName(StringRef stem) { return ("unit_" + stem).str(); }

// What PTX takes as a name, and no other function has.
static std::string functionName(StringRef kernel, llvm::StringSet<> &taken) {
  std::string name = "kernel_";
  for (char c : kernel) name += llvm::isAlnum(c) ? c : '_';
  std::string unique = name;
  for (int number = 1; !taken.insert(unique).second; ++number) unique = name + "_" + std::to_string(number);
  return unique;
}

void Compilation::findUnits() {
  llvm::StringMap<size_t> byStem;
  llvm::StringSet<> taken;
  for (exec::KernelOp kernel : kernels) {
    std::string stem = identityOf(kernel);
    auto [place, fresh] = byStem.try_emplace(stem, units.size());
    if (fresh) units.push_back({kernel, stem, functionName(kernel.getSymName(), taken)});
    unitOf.push_back(place->second);
  }
}

std::string Compilation::cacheKey(const Job &job) const {
  return contentHash(
      (codeFingerprint() + "\nptx " + archs[job.arch].name() + " O" + Twine(options.level) + "\n" + job.unit->stem)
          .str());
}

bool Compilation::takeFromCache(Job &job) const {
  auto kept = options.cache ? options.cache->load(cacheKey(job)) : std::nullopt;
  if (!kept) return false;
  StringRef rest = *kept;
  if (rest.consumeInteger(10, job.launch.threads) || !rest.consume_front(" ") ||
      rest.consumeInteger(10, job.launch.sharedBytes) || !rest.consume_front("\n"))
    return false;
  job.text = rest.str();
  return job.done = true;
}

LogicalResult Compilation::compile(Job &job, const GpuLowering &lowering,
                                   std::vector<std::optional<PtxEmitter>> &emitters) const {
  exec::KernelOp kernel = job.unit->kernel;
  const CudaArch &arch = archs[job.arch];
  OwningOpRef<ModuleOp> holder = ModuleOp::create(UnknownLoc::get(kernel.getContext()));
  OpBuilder b = OpBuilder::atBlockEnd(holder->getBody());
  auto module = gpu::GPUModuleOp::create(b, holder->getLoc(), "kernels");
  std::string name = stemName(job.unit->stem);
  KernelGraph graph{&kernel.getBody().front(), kernel.getPlaces().value_or(ArrayRef<int64_t>()),
                    int64_t(kernel.getScratch())};
  auto launch = emit(graph, name, module, arch);
  if (failed(launch)) return failure();
  if (failed(verify(*holder)) || failed(lowering.run(module))) return failure();
  std::optional<PtxEmitter> &emitter = emitters[job.arch];
  auto report = [&](llvm::Error error) -> LogicalResult {
    return kernel.emitError("code generation for ") << arch.name() << ": " << llvm::toString(std::move(error));
  };
  if (!emitter) {
    auto made = PtxEmitter::create(arch, options.level);
    if (!made) return report(made.takeError());
    emitter.emplace(std::move(*made));
  }
  auto text = emitter->functions(module);
  if (!text) return report(text.takeError());
  job.launch = *launch;
  job.text = std::move(*text);
  if (options.cache)
    options.cache->store(cacheKey(job),
                         std::to_string(launch->threads) + " " + std::to_string(launch->sharedBytes) + "\n" + job.text);
  return success();
}

static void replaceAll(std::string &text, const std::string &from, const std::string &to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

PtxProgram Compilation::join(size_t arch) const {
  PtxProgram result{archs[arch], ptxHead(archs[arch]), {}, {}};
  const Job *own = &jobs[arch * units.size()];
  for (const auto &[index, unit] : llvm::enumerate(units)) {
    std::string text = own[index].text;
    replaceAll(text, stemName(unit.stem), unit.function);
    result.text += "\n" + text;
  }
  for (size_t unit : unitOf) {
    result.functions.push_back(units[unit].function);
    result.launches.push_back(own[unit].launch);
  }
  return result;
}

FailureOr<std::vector<PtxProgram>> Compilation::run() {
  findUnits();
  for (size_t arch = 0; arch < archs.size(); ++arch)
    for (const Unit &unit : units) jobs.push_back({&unit, arch, {}, {}});
  std::vector<Job *> rest;
  for (Job &job : jobs)
    if (!takeFromCache(job)) rest.push_back(&job);
  counts.kernels = jobs.size();
  counts.cached = jobs.size() - rest.size();
  if (!rest.empty()) {
    GpuLowering lowering(program.getContext());
    size_t workers = workersFor(rest.size(), options.workers);
    std::vector<std::vector<std::optional<PtxEmitter>>> emitters(workers);
    for (auto &own : emitters) own.resize(archs.size());
    if (failed(runJobs(program.getContext(), rest.size(), workers,
                       [&](size_t job, size_t worker) { return compile(*rest[job], lowering, emitters[worker]); })))
      return failure();
  }
  std::vector<PtxProgram> result;
  for (size_t arch = 0; arch < archs.size(); ++arch) result.push_back(join(arch));
  return result;
}

FailureOr<std::vector<PtxProgram>> sprig::cuda::emitPtx(ModuleOp program, ArrayRef<CudaArch> archs,
                                                        const CudaCodeGenOptions &options, EmitCudaKernel emit,
                                                        CodeGenCounts *counts) {
  Compilation compilation(program, archs, options, emit);
  auto result = compilation.run();
  if (counts) *counts = compilation.counts;
  return result;
}

// A line for each kernel, then the bytes.
static std::string toEntry(const Cubin &cubin) {
  std::string text = std::to_string(cubin.kernels.size()) + "\n";
  for (const KernelUsage &kernel : cubin.kernels) {
    text += kernel.function;
    for (int64_t figure :
         {kernel.registers, kernel.sharedBytes, kernel.stackBytes, kernel.spillStores, kernel.spillLoads})
      text += " " + std::to_string(figure);
    text += "\n";
  }
  return text + cubin.bytes;
}

static std::optional<Cubin> fromEntry(StringRef entry) {
  Cubin cubin;
  size_t count = 0;
  if (entry.consumeInteger(10, count) || !entry.consume_front("\n")) return std::nullopt;
  while (cubin.kernels.size() < count) {
    auto [line, rest] = entry.split('\n');
    entry = rest;
    SmallVector<StringRef> parts;
    line.split(parts, ' ');
    KernelUsage kernel;
    int64_t *figures[] = {&kernel.registers, &kernel.sharedBytes, &kernel.stackBytes, &kernel.spillStores,
                          &kernel.spillLoads};
    if (parts.size() != 1 + std::size(figures)) return std::nullopt;
    kernel.function = parts[0].str();
    for (size_t i = 0; i < std::size(figures); ++i)
      if (parts[i + 1].getAsInteger(10, *figures[i])) return std::nullopt;
    cubin.kernels.push_back(std::move(kernel));
  }
  cubin.bytes = entry.str();
  return cubin;
}

std::vector<Cubin> sprig::cuda::assemblePtx(MLIRContext *context, ArrayRef<PtxProgram> programs,
                                            const Assembler &assembler, const CudaCodeGenOptions &options) {
  std::vector<Cubin> cubins(programs.size());
  std::vector<std::string> errors(programs.size());
  auto assemble = [&](size_t index, size_t) -> LogicalResult {
    const PtxProgram &program = programs[index];
    std::string key = contentHash(
        ("cubin " + assembler.name() + " " + program.arch.name() + " O" + Twine(options.level) + "\n" + program.text)
            .str());
    if (auto kept = options.cache ? options.cache->load(key) : std::nullopt)
      if (auto cubin = fromEntry(*kept)) return cubins[index] = std::move(*cubin), success();
    auto cubin = assembler.assemble(program.text, program.arch, options.level);
    if (!cubin) return errors[index] = llvm::toString(cubin.takeError()), failure();
    cubins[index] = std::move(*cubin);
    if (options.cache) options.cache->store(key, toEntry(cubins[index]));
    return success();
  };
  if (failed(runJobs(context, programs.size(), workersFor(programs.size(), options.workers), assemble)))
    for (const auto &[program, error] : llvm::zip_equal(programs, errors))
      if (!error.empty()) runtimeError("code generation for " + program.arch.name() + ": " + error);
  return cubins;
}
