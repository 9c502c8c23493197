#include "lib/Target/CPU/CpuTarget.h"
#include "dialects/Kernel/KernelContraction.h"
#include "dialects/Kernel/Panels.h"
#include "dialects/NN/ScanStages.h"
#include "lib/Machine/Cpu.h"
#include "lib/Target/CPU/CodeGen/CodeGen.h"
#include "lib/Target/CPU/Kernels/Builder/KernelEmitter.h"
#include "lib/Target/CPU/Layout/Passes.h"
#include "lib/Target/Kernels/FuseAttention.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "sprig/error.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
class CpuTarget : public Target {
public:
  StringRef kind() const override { return "cpu"; }

  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<cf::ControlFlowDialect, ub::UBDialect>();
    registerKernelDialects(registry);
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
  }
  void registerPasses() const override {
    registerCPULayoutPasses();
    registerKernelPasses();
  }
  std::vector<std::string> packagedArchitectures() const override { return machine::packagedCpus(); }
  machine::MachineModel machine(const CompileOptions &options) const override {
    return machine::modelFor(options.architectures);
  }

  bool takesScan(ir::ScanOp scan, std::string &why) const override {
    return ir::ScanStages::analyze(scan, why).has_value();
  }
  bool takesDotProducts() const override { return true; }
  bool takes(Precision precision) const override { return precision == Precision::f32 || precision == Precision::bf16; }
  void check(const CompileOptions &options) const override {
    if (options.precision == Precision::bf16 && !options.freeze)
      unsupported("--precision bf16: parameters that stay state have no kernels for it; it is for inference, where "
                  "parameters are constants");
  }
  void addLayoutPasses(OpPassManager &passes, const CompileOptions &options) const override;
  bool isLayout(Operation *op) const override { return isa<kernel::PackOp>(op); }
  void fusePatterns(Block &block, Precision, IsHere isHere) const override {
    fuseAttention(block, isHere, [](const ir::Attention &, std::string &) { return true; });
  }

  bool canFuse(const FusionGroup &group, Operation *op) const override { return sprig::cpu::canFuse(group, op); }
  FailureOr<KernelPlan> plan(kernel::DispatchOp dispatch) const override { return planDispatch(dispatch); }
  StringRef emitterOf(kernel::DispatchOp dispatch) const override {
    const KernelEmitter *emitter = findKernelEmitter(dispatch);
    return emitter ? emitter->name() : StringRef();
  }
  bool mayOverwrite(kernel::DispatchOp dispatch, unsigned operand, unsigned result) const override {
    return sprig::cpu::mayOverwrite(dispatch, operand, result);
  }
  bool takesComposites() const override { return true; }
  // Together about as much as the second-level cache holds, and too little to share out; what is between the dispatches
  // of one kernel mostly stays in the first level.
  SmallProgram inlinedProgram() const override { return {500'000, 256 << 10}; }
  SmallProgram mergedProgram() const override { return {2'000'000, 1 << 20}; }
  TileChoices tileChoices(kernel::DispatchOp dispatch, const CompileOptions &options) const override {
    return registerTileChoices(dispatch, options);
  }

  FailureOr<std::vector<PackageImage>> compile(ModuleOp program, const CompileOptions &options, FileCache *cache,
                                               CodeGenCounts &counts) const override;
  FailureOr<std::string> emit(ModuleOp program, const CompileOptions &options, StringRef form) const override {
    return emitForm(program, options, form);
  }
};
} // namespace

void CpuTarget::addLayoutPasses(OpPassManager &passes, const CompileOptions &options) const {
  bool rounds = options.precision == Precision::bf16, isFast = options.freeze && options.math == MathMode::fast;
  // Not under `strict`, which keeps constants small.
  if (isFast && !rounds) passes.addNestedPass<func::FuncOp>(createWidenHalves());
  // Products in loops round no factors.
  ScansOptions scans;
  scans.products = !rounds;
  passes.addNestedPass<func::FuncOp>(createScans(scans));
  // Layouts before packing: a packed filter is that of a channels-last convolution.
  LayoutOptions layout;
  layout.strict = options.math == MathMode::strict;
  passes.addNestedPass<func::FuncOp>(createLayout(layout));
  // Only constant filters: those of packages for inference.
  if (isFast) {
    WinogradOptions winograd;
    // It stays in f32, and competes with convolutions that take two thirds of the time, as measured.
    if (rounds) winograd.minGain *= 1.5;
    passes.addNestedPass<func::FuncOp>(createWinograd(winograd));
  }
  if (rounds) passes.addNestedPass<func::FuncOp>(createRoundFactors());
  if (options.freeze && !rounds) {
    PackNarrowOptions narrow;
    narrow.strict = options.math == MathMode::strict;
    passes.addNestedPass<func::FuncOp>(createPackNarrow(narrow));
  }
  // A package for inference only packs its constants once and for all. Parameters that stay state keep the model's
  // layout: a filter, which serves many positions, is packed in every run; a matrix is read as it lies.
  PackOptions pack;
  pack.matrices = options.freeze;
  pack.ahead = options.prepare;
  passes.addNestedPass<func::FuncOp>(createPack(pack));
  // After it: padding that it writes out is no obstacle to tiles of several taps.
  passes.addNestedPass<func::FuncOp>(createSplitFilterGradients());
}

namespace {
/// Which dot products kernels take: what sets of instructions differ in that only these tell apart.
struct DotProducts {
  bool ofBytes = false, ofHalves = false, ofMatrices = false;

  explicit DotProducts(ModuleOp program) {
    program->walk([&](Operation *op) {
      ofBytes |= isa<kernel::MatmulNarrowDotOp>(op);
      if (!isa<kernel::MatmulPackedOp, kernel::ConvPackedOp, kernel::ConvDepthwiseDotOp>(op)) return;
      auto panels = cast<RankedTensorType>(op->getOperand(1).getType());
      bool areBytes = panels.getElementType().isInteger(8);
      ofBytes |= areBytes;
      ofMatrices |= areBytes && isa<kernel::MatmulPackedOp, kernel::ConvPackedOp>(op);
      ofHalves |= panels.getElementType().isBF16() && kernel::interleaveIn(panels.getShape()) > 1;
    });
  }
};
} // namespace

/// Leaves out images that want more of the processor than another of their level and have no other code, as where no
/// product is worth telling a matrix unit its sizes.
static std::vector<PackageImage> withoutCopies(std::vector<PackageImage> images) {
  std::vector<PackageImage> kept;
  for (PackageImage &image : images) {
    auto isCopy = [&](const PackageImage &other) {
      return image.architecture == other.architecture && image.image.bytes == other.image.bytes &&
             llvm::all_of(other.features, [&](auto &feature) { return llvm::is_contained(image.features, feature); });
    };
    if (llvm::none_of(kept, isCopy)) kept.push_back(std::move(image));
  }
  return kept;
}

FailureOr<std::vector<PackageImage>> CpuTarget::compile(ModuleOp program, const CompileOptions &options,
                                                        FileCache *cache, CodeGenCounts &counts) const {
  std::vector<PackageImage> images;
  std::vector<CpuArch> architectures;
  DotProducts dots(program);
  for (StringRef name : options.architectures) {
    if (auto set = instructionSetByName(name); !set) badUse(llvm::toString(set.takeError()));
    // Equal code is not stored twice, and asks for no feature that it does not use.
    std::string level = name.str();
    auto without = [&](bool isUsed, StringRef suffix, StringRef next) {
      if (!isUsed && StringRef(level).ends_with(suffix))
        level = level.substr(0, level.size() - suffix.size()) + next.str();
    };
    without(dots.ofMatrices, CpuArch::kMatrixSuffix, CpuArch::kBytesSuffix);
    without(dots.ofHalves, CpuArch::kHalvesSuffix, CpuArch::kBytesSuffix);
    without(dots.ofBytes, CpuArch::kBytesSuffix, "");
    auto set = llvm::cantFail(instructionSetByName(level));
    auto same = [&](const PackageImage &image) {
      return image.architecture == set.level && image.features == set.features;
    };
    if (llvm::any_of(images, same)) continue;
    images.push_back({set.level, set.features, {}});
    architectures.push_back(set.arch);
  }
  if (images.empty()) badUse("no instruction set to generate code for");
  CodeGenOptions codegen = codeGenOptions(options);
  codegen.cache = cache;
  auto made = compileKernels(program, architectures, codegen, &counts);
  if (failed(made)) return failure();
  for (auto [image, linked] : llvm::zip_equal(images, *made)) image.image = std::move(linked);
  return withoutCopies(std::move(images));
}

std::unique_ptr<Target> sprig::cpu::createCpuTarget() { return std::make_unique<CpuTarget>(); }
