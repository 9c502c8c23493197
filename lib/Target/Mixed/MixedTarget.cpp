#include "lib/Target/Mixed/MixedTarget.h"
#include "dialects/Exec/Exec.h"
#include "dialects/Kernel/KernelDialect.h"
#include "sprig/error.h"

using namespace mlir;
using namespace sprig;

namespace {
class MixedTarget : public Target {
public:
  MixedTarget(const Target &host, const Target &other)
      : host(host), other(other), name((host.kind() + "+" + other.kind()).str()) {}

  StringRef kind() const override { return name; }
  SmallVector<StringRef> deviceKinds() const override { return {host.kind(), other.kind()}; }
  void registerDialects(DialectRegistry &) const override {} // those of its parts, which are targets, too

  std::vector<std::string> packagedArchitectures() const override {
    std::vector<std::string> names = host.packagedArchitectures();
    llvm::append_range(names, other.packagedArchitectures());
    return names;
  }
  void check(const CompileOptions &options) const override {
    if (options.lanes > 1)
      unsupported("--lanes " + std::to_string(options.lanes) +
                  ": a program for devices of several kinds has one lane of commands on each device");
    if (options.tuneSeconds > 0)
      badUse("--tune searches on the processor of this machine alone; this program is for " + name);
    for (const Target *part : {&host, &other}) part->check(optionsOf(*part, options));
  }
  machine::MachineModel machine(const CompileOptions &options) const override {
    return host.machine(optionsOf(host, options));
  }
  machine::MachineModel machineOf(StringRef deviceKind, const CompileOptions &options) const override {
    const Target &part = partOf(deviceKind);
    return part.machine(optionsOf(part, options));
  }

  // Layouts are chosen before operations are placed, so there are none that one kind alone has kernels for.
  bool takesScan(ir::ScanOp, std::string &why) const override {
    why = "the program has devices of several kinds";
    return false;
  }
  void fusePatterns(Block &block, Precision precision, IsHere isHere) const override {
    for (const Target *part : {&host, &other})
      part->fusePatterns(block, precision, [&](Operation *op) { return isHere(op) && &at(op) == part; });
  }
  bool canFuse(const FusionGroup &group, Operation *op) const override {
    return at(group.ops.front()).canFuse(group, op);
  }
  FailureOr<KernelPlan> plan(kernel::DispatchOp dispatch) const override { return at(dispatch).plan(dispatch); }
  StringRef emitterOf(kernel::DispatchOp dispatch) const override { return at(dispatch).emitterOf(dispatch); }
  bool mayOverwrite(kernel::DispatchOp dispatch, unsigned operand, unsigned result) const override {
    return at(dispatch).mayOverwrite(dispatch, operand, result);
  }

  FailureOr<std::vector<PackageImage>> compile(ModuleOp program, const CompileOptions &options, FileCache *cache,
                                               CodeGenCounts &counts) const override;
  FailureOr<std::string> emit(ModuleOp, const CompileOptions &, StringRef form) const override {
    badUse("there is no form '" + form.str() + "' of a program for " + name +
           "; of one for a single kind of device there are forms");
  }

private:
  const Target &partOf(StringRef deviceKind) const { return deviceKind == other.kind() ? other : host; }

  // What stands in a loop or branch goes with it.
  const Target &at(Operation *op) const {
    while (!op->hasAttr(kernel::kDeviceAttr) && !isa<ModuleOp>(op->getParentOp())) op = op->getParentOp();
    auto module = cast<ModuleOp>(op->getParentOfType<ModuleOp>());
    auto devices = module->getAttrOfType<ArrayAttr>(kernel::kDevicesAttr);
    if (!devices) return host;
    return partOf(cast<StringAttr>(devices[kernel::deviceOf(op)]).getValue().split(':').first);
  }

  CompileOptions optionsOf(const Target &part, const CompileOptions &options) const {
    CompileOptions own = options;
    own.target = part.kind().str();
    llvm::erase_if(own.architectures,
                   [&](const std::string &each) { return other.namesArchitecture(each) != (&part == &other); });
    if (own.architectures.empty())
      own.architectures = &part == &other ? other.packagedArchitectures() : CompileOptions().architectures;
    return own;
  }

  const Target &host, &other;
  std::string name;
};
} // namespace

// The program with what devices of a kind run.
static OwningOpRef<ModuleOp> programOn(ModuleOp program, StringRef kind) {
  OwningOpRef<ModuleOp> own = program.clone();
  SymbolTableCollection symbols;
  SmallVector<Operation *> elsewhere;
  own->walk([&](exec::LaneOp lane) {
    if (symbols.lookupNearestSymbolFrom<exec::DeviceOp>(lane, lane.getDeviceAttr()).getKind() == kind) return;
    for (auto dispatch : lane.getBody().front().getOps<exec::DispatchOp>()) elsewhere.push_back(dispatch);
  });
  for (Operation *dispatch : elsewhere) dispatch->erase();
  return own;
}

// An image of some of the kernels as one of all, in which others are empty. Those of the host have no launches.
static void spread(LinkedImage &image, bool areLaunched, ArrayRef<exec::KernelOp> own, ArrayRef<exec::KernelOp> all) {
  std::vector<LinkedImage::Symbol> symbols(all.size());
  std::vector<LaunchShape> launches(areLaunched ? all.size() : 0);
  size_t next = 0;
  for (auto [index, kernel] : llvm::enumerate(all)) {
    if (next == own.size() || exec::KernelOp(own[next]).getSymName() != exec::KernelOp(kernel).getSymName()) continue;
    symbols[index] = std::move(image.symbols[next]);
    if (areLaunched) launches[index] = image.launches[next];
    ++next;
  }
  image.symbols = std::move(symbols);
  image.launches = std::move(launches);
}

FailureOr<std::vector<PackageImage>> MixedTarget::compile(ModuleOp program, const CompileOptions &options,
                                                          FileCache *cache, CodeGenCounts &counts) const {
  SmallVector<exec::KernelOp> all = exec::launchedKernels(program);
  std::vector<PackageImage> images;
  for (const Target *part : {&host, &other}) {
    OwningOpRef<ModuleOp> own = programOn(program, part->kind());
    SmallVector<exec::KernelOp> kernels = exec::launchedKernels(*own);
    CodeGenCounts counted;
    auto made = part->compile(*own, optionsOf(*part, options), cache, counted);
    if (failed(made)) return failure();
    counts.kernels += counted.kernels;
    counts.cached += counted.cached;
    for (PackageImage &image : *made) {
      image.kind = part->kind().str();
      spread(image.image, /*areLaunched=*/part == &other, kernels, all);
      images.push_back(std::move(image));
    }
  }
  return images;
}

std::unique_ptr<Target> sprig::createMixedTarget(const Target &host, const Target &other) {
  return std::make_unique<MixedTarget>(host, other);
}
