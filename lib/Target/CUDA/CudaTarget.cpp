#include "lib/Target/CUDA/CudaTarget.h"
#include "lib/Machine/CudaModel.h"
#include "lib/Target/CUDA/CodeGen/CompileProgram.h"
#include "lib/Target/CUDA/CodeGen/GpuLowering.h"
#include "lib/Target/CUDA/CodeGen/Assembler.h"
#include "lib/Target/CUDA/CodeGen/Passes.h"
#include "lib/Target/CUDA/Kernels/KernelEmitter.h"
#include "lib/Target/CUDA/Layout/Passes.h"
#include "sprig/error.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

static constexpr const char *kPackagedArchitectures[] = {"sm_80", "sm_90"};

// The architectures that options name, each once, the oldest first. Throws usage errors.
static SmallVector<CudaArch> architecturesOf(const CompileOptions &options) {
  SmallVector<CudaArch> archs;
  auto add = [&](StringRef name) {
    auto arch = cudaArchByName(name);
    if (!arch) badUse("--target cuda: " + llvm::toString(arch.takeError()));
    if (!llvm::is_contained(archs, *arch)) archs.push_back(*arch);
  };
  for (const std::string &name : options.architectures) {
    if (name != "native")
      add(name);
    else // no GPU needs to be here
      for (const char *usual : kPackagedArchitectures) add(usual);
  }
  if (archs.empty()) badUse("--target cuda: no architecture to generate code for");
  llvm::sort(archs);
  return archs;
}

static FailureOr<LaunchShape> emitKernelFunction(const KernelGraph &graph, StringRef name, gpu::GPUModuleOp module,
                                                 const CudaArch &arch) {
  auto kernel = emitCudaKernelGraph(graph, name, module, arch);
  if (failed(kernel)) return failure();
  return kernel->launch;
}

static CudaCodeGenOptions codeGenOptions(const CompileOptions &options, FileCache *cache = nullptr) {
  return {std::clamp(options.optimization, 0, 3), options.compileThreads, cache};
}

namespace {
class CudaTarget : public Target {
public:
  StringRef kind() const override { return "cuda"; }

  void registerDialects(DialectRegistry &registry) const override {
    registerGpuDialects(registry);
    registerCudaKernelDialects(registry);
  }
  void registerPasses() const override {
    registerCudaLayoutPasses();
    registerCudaKernelPasses();
    registerCudaCodeGenPasses();
  }
  std::vector<std::string> packagedArchitectures() const override {
    return {std::begin(kPackagedArchitectures), std::end(kPackagedArchitectures)};
  }
  bool namesArchitecture(StringRef name) const override {
    auto arch = cudaArchByName(name);
    llvm::consumeError(arch.takeError());
    return bool(arch);
  }
  void check(const CompileOptions &options) const override {
    architecturesOf(options);
    if (options.tuneSeconds > 0)
      badUse("--tune searches on the processor of this machine; --target cuda has nothing that it could time here");
  }
  bool takes(Precision precision) const override { return precision == Precision::f32 || precision == Precision::tf32; }
  machine::MachineModel machine(const CompileOptions &options) const override {
    return machine::cudaModel(architecturesOf(options).front().name());
  }

  bool takesScan(ir::ScanOp scan, std::string &why) const override { return takesScanOnCuda(scan, why); }
  void addLayoutPasses(OpPassManager &passes, const CompileOptions &) const override {
    passes.addNestedPass<func::FuncOp>(createTransposeScans());
    passes.addNestedPass<func::FuncOp>(createSplitProducts());
  }
  void fusePatterns(Block &block, Precision precision, IsHere isHere) const override {
    fuseAttentionForCuda(block, precision, isHere);
    layFiltersForCuda(block, isHere);
    splitConcatsForCuda(block, isHere);
  }
  bool canFuse(const FusionGroup &group, Operation *op) const override { return canFuseOnCuda(group, op); }
  FailureOr<KernelPlan> plan(kernel::DispatchOp dispatch) const override { return planCudaDispatch(dispatch); }
  StringRef emitterOf(kernel::DispatchOp dispatch) const override {
    const GpuEmitter *emitter = findGpuEmitter(dispatch);
    return emitter ? emitter->name() : StringRef();
  }
  bool mayOverwrite(kernel::DispatchOp dispatch, unsigned operand, unsigned result) const override {
    return mayOverwriteOnCuda(dispatch, operand, result);
  }

  // Branches of a graph. Kernels of small networks have a part of the multiprocessors at work; networks have few
  // branches.
  unsigned defaultLanes() const override { return 8; }
  // What a block computes in about the time that a launch takes: it has few threads, but waits for no other kernel.
  SmallProgram inlinedProgram() const override { return {1 << 17, 1 << 17}; }
  bool isShort(kernel::DispatchOp dispatch, int64_t, int64_t) const override { return isShortOnCuda(dispatch); }

  FailureOr<std::vector<PackageImage>> compile(ModuleOp program, const CompileOptions &options, FileCache *cache,
                                               CodeGenCounts &counts) const override;
  FailureOr<std::string> emit(ModuleOp program, const CompileOptions &options, StringRef form) const override;
};
} // namespace

static PackageImage makeImage(const PtxProgram &ptx, std::string architecture, StringRef bytes) {
  PackageImage made;
  made.architecture = std::move(architecture);
  made.image.bytes.assign(bytes.begin(), bytes.end());
  made.image.codeSize = bytes.size();
  for (const std::string &function : ptx.functions) made.image.symbols.push_back({function, 0, 0});
  made.image.launches = ptx.launches;
  return made;
}

static const LaunchShape *launchOf(const PtxProgram &ptx, const KernelUsage &kernel) {
  auto found = llvm::find(ptx.functions, kernel.function);
  return found == ptx.functions.end() ? nullptr : &ptx.launches[found - ptx.functions.begin()];
}

// The assembler knows what a kernel has of its own, not what its launch adds.
static void checkSharedMemory(const PtxProgram &ptx, const Cubin &cubin) {
  for (const KernelUsage &kernel : cubin.kernels) {
    const LaunchShape *launch = launchOf(ptx, kernel);
    int64_t bytes = kernel.sharedBytes + (launch ? launch->sharedBytes : 0);
    if (bytes > ptx.arch.sharedPerBlock)
      throw Error(
          ErrorKind::unsupported,
          llvm::formatv("--target cuda: '{0}' needs {1} bytes of shared memory for a block, of which {2} has {3}",
                        kernel.function, bytes, ptx.arch.name(), ptx.arch.sharedPerBlock)
              .str());
  }
}

// What the kernels of an architecture take, a line each.
static void describe(Location loc, const PtxProgram &ptx, const Cubin &cubin) {
  for (const KernelUsage &kernel : cubin.kernels) {
    const LaunchShape *own = launchOf(ptx, kernel);
    if (!own) continue;
    const LaunchShape &launch = *own;
    int64_t blocks = blocksOnMultiprocessor(ptx.arch, kernel, launch);
    int64_t threads = machine::findCudaDevice(ptx.arch.name())->threads;
    emitRemark(loc) << llvm::formatv("codegen: {0}: {1}: {2} registers, {3} bytes of shared memory, {4} of stack, {5} "
                                     "spilled; {6} blocks of {7} threads on a multiprocessor, {8}% of its threads",
                                     ptx.arch.name(), kernel.function, kernel.registers,
                                     kernel.sharedBytes + launch.sharedBytes, kernel.stackBytes,
                                     kernel.spillStores + kernel.spillLoads, blocks, launch.threads,
                                     100 * blocks * launch.threads / threads)
                           .str();
  }
}

FailureOr<std::vector<PackageImage>> CudaTarget::compile(ModuleOp program, const CompileOptions &options,
                                                         FileCache *cache, CodeGenCounts &counts) const {
  SmallVector<CudaArch> archs = architecturesOf(options);
  auto texts = emitPtx(program, archs, codeGenOptions(options, cache), emitKernelFunction, &counts);
  if (failed(texts)) return failure();
  std::string looked;
  auto assembler = findAssembler(ToolkitPlaces::ofEnvironment(), looked);
  if (!assembler) runtimeError(llvm::toString(assembler.takeError()));
  std::vector<PackageImage> images;
  Location nowhere = UnknownLoc::get(program.getContext());
  if (*assembler) {
    if (options.reportDetails) emitRemark(nowhere) << "codegen: cubins by " << (*assembler)->name();
    std::vector<Cubin> cubins = assemblePtx(program.getContext(), *texts, **assembler, codeGenOptions(options, cache));
    for (const auto &[text, cubin] : llvm::zip_equal(*texts, cubins)) {
      checkSharedMemory(text, cubin);
      images.push_back(makeImage(text, text.arch.name(), cubin.bytes));
      if (options.reportDetails) describe(nowhere, text, cubin);
    }
  } else {
    emitWarning(nowhere) << "the package has PTX of " << archs.front().name()
                         << " and no cubin, so drivers compile it when "
                         << "they load it: " << looked;
  }
  const PtxProgram &oldest = texts->front();
  images.push_back(
      makeImage(oldest, oldest.arch.virtualName(), StringRef(oldest.text.c_str(), oldest.text.size() + 1)));
  return images;
}

FailureOr<std::string> CudaTarget::emit(ModuleOp program, const CompileOptions &options, StringRef form) const {
  if (form != "ptx") badUse("there is no form '" + form.str() + "' of kernels for cuda; the form is ptx");
  // The first that was named, as of other targets.
  CompileOptions first = options;
  first.architectures.resize(std::min<size_t>(1, first.architectures.size()));
  auto texts = emitPtx(program, architecturesOf(first).front(), codeGenOptions(options), emitKernelFunction);
  if (failed(texts)) return failure();
  return texts->front().text;
}

std::unique_ptr<Target> sprig::cuda::createCudaTarget() { return std::make_unique<CudaTarget>(); }
