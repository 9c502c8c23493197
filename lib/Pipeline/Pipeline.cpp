#include "lib/Pipeline/Pipeline.h"
#include "dialects/Kernel/KernelContraction.h"
#include "dialects/Kernel/Panels.h"
#include "dialects/NN/Attributes.h"
#include "lib/Cache/FileCache.h"
#include "lib/Pipeline/OpenCache.h"
#include "lib/Pipeline/Diagnostics.h"
#include "lib/Pipeline/Tune.h"
#include "lib/Place/Pins.h"
#include "lib/Schedule/Passes.h"
#include "lib/Shard/StateShardings.h"
#include "lib/Target/Registry.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"
#include <chrono>

using namespace mlir;
using namespace sprig;

std::string sprig::producerName() { return "sprig " SPRIG_VERSION; }

static Error takeAsError(ErrorKind kind, llvm::Error error) { return Error(kind, llvm::toString(std::move(error))); }

const Target &sprig::targetOf(const CompileOptions &options) {
  auto target = targetByKind(options.target);
  if (!target) throw takeAsError(ErrorKind::unsupported, target.takeError());
  return **target;
}

namespace {
// Remarks as lines: `remark: main.mlir:3:8: memory: what the pass did`.
class RemarkLines : public remark::detail::MLIRRemarkStreamerBase {
public:
  explicit RemarkLines(RemarkSink sink) : sink(std::move(sink)) {}
  void streamOptimizationRemark(const remark::detail::Remark &remark) override {
    std::string place = describeLocation(remark.getLocation());
    std::string line = "remark: " + (place.empty() ? "" : place + ": ") + remark.getCategoryName().str() + ": ";
    for (const auto &part : remark.getArgs()) line += part.val;
    sink(line);
  }

private:
  RemarkSink sink;
};

class Compilation {
public:
  Compilation(ModuleOp module, const CompileOptions &options, const RemarkSink &remarks, const PackageTimer &timer)
      : module(module), options(options), target(targetOf(options)), sink(remarks ? remarks : options.report),
        timer(timer), diagnostics(module.getContext(), sink) {
    first = options.compileFrom.empty() ? 0 : placeOf(options.compileFrom);
    last = options.compileTo.empty() ? phases().size() - 1 : placeOf(options.compileTo);
    if (first > last)
      badUse("phase '" + options.compileFrom + "' comes after phase '" + options.compileTo +
             "', so nothing is left to do");
    checkPrecision();
    target.check(options);
    checkDevices();
    checkMesh();
    enableRemarks();
  }
  ~Compilation() {
    if (ownsRemarks) module.getContext()->setRemarkEngine(nullptr);
  }

  void run();
  void divide(const FactorReport &report);
  CompileResult result;

private:
  static size_t placeOf(StringRef name) {
    auto place = phaseByName(name);
    if (!place) throw takeAsError(ErrorKind::usage, place.takeError());
    return *place;
  }
  void checkPrecision();
  Precision packagedPrecision();
  void checkDevices();
  void checkMesh();
  void checkStrategy();
  void enableRemarks();
  void verifyProgram();
  void runPhase(const Phase &phase);
  void takeCollectives();
  void generateCode();
  void package();
  void tune();
  void dump(size_t index);
  [[noreturn]] void fail(const Phase &phase);
  [[noreturn]] void refuseStart();

  ModuleOp module;
  const CompileOptions &options;
  const Target &target;
  RemarkSink sink;
  const PackageTimer &timer;
  DiagnosticText diagnostics;
  size_t first = 0, last = 0;
  bool ownsRemarks = false;
  std::vector<PackageImage> images;
};

static StringRef nameOf(Precision precision) {
  switch (precision) {
  case Precision::f32: return "f32";
  case Precision::tf32: return "tf32";
  case Precision::bf16: return "bf16";
  }
  llvm_unreachable("every precision has a name");
}

void Compilation::checkPrecision() {
  if (options.precision != Precision::f32 && first > placeOf("fuse"))
    badUse(("--precision " + nameOf(options.precision) + ": phase '" + options.compileFrom +
            "' comes after 'fuse', where kernels get their precision")
               .str());
  if (target.takes(options.precision)) return;
  SmallVector<StringRef> others;
  for (const Target *other : targets())
    if (other->takes(options.precision)) others.push_back(other->kind());
  unsupported(("--precision " + nameOf(options.precision) + ": --target " + target.kind() +
               " has no kernels for it; those that have: " + llvm::join(others, ", "))
                  .str());
}

void Compilation::checkDevices() {
  auto devices = place::parseDevices(options.devices, target.deviceKinds());
  if (!devices) {
    auto [kind, text] = std::pair(ErrorKind::usage, std::string());
    llvm::handleAllErrors(devices.takeError(), [&](const llvm::ErrorInfoBase &error) {
      if (error.convertToErrorCode() == std::errc::not_supported) kind = ErrorKind::unsupported;
      text = error.message();
    });
    throw Error(kind, text);
  }
  if (devices->size() < 2) {
    if (options.places.empty()) return;
    badUse("place " + options.places[0].first + "=" + options.places[0].second +
           ": there is one device; name several to place on, as cpu:0 and cpu:1");
  }
  if (first > placeOf("fuse")) {
    if (options.places.empty()) return;
    badUse("place " + options.places[0].first + "=" + options.places[0].second + ": phase '" + options.compileFrom +
           "' comes after 'fuse', where operations are placed");
  }
  if (llvm::Error error = place::checkPins(module, options.places, *devices, /*parametersStay=*/!options.freeze))
    throw takeAsError(ErrorKind::usage, std::move(error));
  if (llvm::Error error = place::keepPlaces(module, *devices)) throw takeAsError(ErrorKind::badInput, std::move(error));
}

void Compilation::checkMesh() {
  if (options.mesh.empty()) {
    if (!options.shardings.empty())
      badUse("--shard " + options.shardings.front() + ": names axes of --mesh, which is not given");
    if (!options.strategy.empty())
      badUse("strategy " + options.strategy + ": ranks of a mesh share steps, and none is given");
    if (options.rank >= 0) badUse("--rank " + std::to_string(options.rank) + ": is one of --mesh, which is not given");
    return;
  }
  const std::string asked = "--mesh " + options.mesh + ": ";
  if (first > placeOf("shard"))
    badUse(asked + "phase '" + options.compileFrom + "' comes after 'shard', where ranks get their parts");
  if (options.devices.size() > 1)
    badUse(asked + "every rank has a part of each layer, and none is placed on " +
           std::to_string(options.devices.size()) + " devices");
  if (!options.states.empty())
    unsupported(asked + "of a model that is split over ranks inputs are no state, as '" + options.states.front().first +
                "' is");
  if (!options.ranges.empty())
    unsupported(asked + "a model that is split over ranks has one size, and '" + options.ranges.begin()->first +
                "' has a range");
  if (!options.strategy.empty()) checkStrategy();
  if (llvm::Error error = shard::checkShardings(module, options.mesh, options.shardings, options.rank))
    throw takeAsError(ErrorKind::usage, std::move(error));
}

void Compilation::checkStrategy() {
  const std::string asked = "strategy " + options.strategy + ": ";
  if (!options.shardings.empty())
    badUse(asked + "says how values are split, and so does --shard " + options.shardings[0]);
  if (options.rank < 0) badUse(asked + "makes the step of one rank, and none is given");
}

void Compilation::enableRemarks() {
  if (options.remarks.empty()) return;
  for (const std::string &category : options.remarks)
    if (!llvm::is_contained({"fuse", "schedule", "memory"}, category))
      badUse("there are no remarks '" + category + "'; the categories are fuse, schedule, memory");
  remark::RemarkCategories categories;
  std::string pattern = "^(" + llvm::join(options.remarks, "|") + ")$";
  // Each kind has a filter of its own; `all` alone enables none.
  categories.passed = categories.missed = categories.analysis = categories.failed = pattern;
  if (!sink) return;
  if (failed(remark::enableOptimizationRemarks(*module.getContext(), std::make_unique<RemarkLines>(sink),
                                               std::make_unique<remark::RemarkEmittingPolicyAll>(), categories)))
    internalError("remarks cannot be enabled in this context");
  ownsRemarks = true;
}

void Compilation::fail(const Phase &phase) {
  // What a pass refuses is a valid model that this compiler has no code for; a broken boundary is the compiler's fault.
  diagnostics.raise(ErrorKind::unsupported, "phase '" + phase.name.str() + "' failed and did not say why");
}

// What begins behind the schedule may have been changed by hand.
void Compilation::verifyProgram() {
  PassManager passes(module.getContext());
  passes.enableVerifier(false);
  passes.addPass(createVerifyProgram({options.target}));
  if (failed(passes.run(module))) refuseStart();
}

void Compilation::refuseStart() {
  diagnostics.raise(ErrorKind::badInput,
                    "the program is not what phase '" + phases()[first].name.str() + "' starts from");
}

void Compilation::runPhase(const Phase &phase) {
  if (!phase.build) return phase.name == "codegen" ? generateCode() : package();
  PassManager passes(module.getContext());
  // Once per phase, below, rather than after each of its passes.
  passes.enableVerifier(false);
  phase.build(passes, options);
  if (passes.size() && failed(passes.run(module))) fail(phase);
  if (failed(verify(module)) || failed(verifyBoundary(module, phase)))
    internalError("phase '" + phase.name.str() + "' made an invalid program; please report this\n" +
                  diagnostics.take());
  if (phase.name == "shard") takeCollectives();
}

// The collectives of all ranks' programs are the same, however many samples each rank has.
void Compilation::takeCollectives() {
  for (auto function : module.getOps<func::FuncOp>()) {
    auto plan = function->getAttrOfType<ArrayAttr>(ir::dist::kPlanAttr);
    if (!plan) continue;
    auto entry = function->getAttrOfType<StringAttr>(ir::kEntryAttr);
    for (auto collective : plan.getAsRange<StringAttr>())
      result.collectives.push_back(
          ("'" + (entry ? entry.getValue() : function.getSymName()) + "': " + collective.getValue()).str());
  }
  if (options.collectives.empty()) return;
  auto [other, own] = std::mismatch(options.collectives.begin(), options.collectives.end(), result.collectives.begin(),
                                    result.collectives.end());
  if (other == options.collectives.end() && own == result.collectives.end()) return;
  auto described = [](auto at, auto end) { return at == end ? "none" : *at; };
  internalError("collective " + std::to_string(other - options.collectives.begin() + 1) + " is " +
                described(own, result.collectives.end()) + " here and " + described(other, options.collectives.end()) +
                " on another rank");
}

void Compilation::generateCode() {
  module.getContext()->loadAllAvailableDialects(); // not possible once several threads are at work
  std::unique_ptr<FileCache> cache = openCache(options, "kernels", sink);
  auto made = target.compile(module, options, cache.get(), result.kernels);
  if (failed(made)) diagnostics.raise(ErrorKind::unsupported, "code generation failed and did not say why");
  images = std::move(*made);
  for (PackageImage &image : images)
    if (image.kind.empty()) image.kind = target.kind().str();
  if (options.reportDetails && sink)
    sink("codegen: " + std::to_string(result.kernels.kernels) + " kernels, " + std::to_string(result.kernels.cached) +
         " of them from the cache");
}

void Compilation::tune() {
  if (!timer) badUse("tuning needs a machine to run on, which this use of the compiler has not");
  tuneTiles(module, options, timer, options.reportDetails ? sink : RemarkSink());
}

/// Whether there is such an operation.
template <typename OpT> static bool holds(ModuleOp module, llvm::function_ref<bool(OpT)> test) {
  auto visit = [&](OpT op) { return test(op) ? WalkResult::interrupt() : WalkResult::advance(); };
  return module.walk(visit).wasInterrupted();
}

// Of what is compiled: a program from a later phase brings its own.
Precision Compilation::packagedPrecision() {
  if (holds<kernel::DispatchOp>(module, [](auto dispatch) { return dispatch.getTf32(); })) return Precision::tf32;
  bool hasBf16 = holds<Operation *>(module, [](Operation *op) {
    if (!isa<kernel::MatmulPackedOp, kernel::ConvPackedOp>(op)) return false;
    auto panels = cast<RankedTensorType>(op->getOperand(1).getType());
    return panels.getElementType().isBF16() && kernel::interleaveIn(panels.getShape()) > 1;
  });
  return hasBf16 ? Precision::bf16 : options.precision;
}

void Compilation::package() {
  std::vector<std::pair<std::string, std::string>> facts;
  if (!options.modelName.empty()) facts.emplace_back("model", options.modelName);
  facts.emplace_back("code generator", "LLVM " LLVM_VERSION_STRING);
  facts.emplace_back("architectures", llvm::join(options.architectures, ","));
  facts.emplace_back("optimization", "O" + std::to_string(options.optimization));
  facts.emplace_back("math", options.math == MathMode::fast ? "fast" : "strict");
  facts.emplace_back("precision", nameOf(packagedPrecision()).str());
  facts.emplace_back("freeze", options.freeze ? "on" : "off");
  facts.emplace_back("fuse", options.fuse ? "on" : "off");
  if (auto training = module->getAttrOfType<StringAttr>(ir::kTrainingAttr))
    facts.emplace_back("training", training.getValue().str());
  auto bytes = writePackage(module, images, producerName(), facts, &result.sizes);
  if (failed(bytes)) diagnostics.raise(ErrorKind::internal, "the package cannot be written");
  result.package = std::move(*bytes);
}

void Compilation::dump(size_t index) {
  if (options.dumpPhases.empty() || !phases()[index].build) return;
  if (std::error_code error = llvm::sys::fs::create_directories(options.dumpPhases))
    runtimeError(options.dumpPhases + ": cannot be made: " + error.message());
  std::string path = options.dumpPhases + "/" + (index < 10 ? "0" : "") + std::to_string(index) + "-" +
                     phases()[index].name.str() + ".mlir";
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  OpPrintingFlags flags;
  if (!options.dumpConstants) flags.elideLargeElementsAttrs(32).elideLargeResourceString(64);
  if (!error) {
    module.print(out, flags);
    out.flush();
    error = out.error();
    out.clear_error();
  }
  if (error) runtimeError(path + ": cannot be written: " + error.message());
}

void Compilation::divide(const FactorReport &report) {
  PassManager passes(module.getContext());
  passes.enableVerifier(false);
  addDivisionPasses(passes, options);
  addFactorPasses(passes, options, report);
  if (passes.size() && failed(passes.run(module))) fail(phases()[placeOf("shard")]);
}

void Compilation::run() {
  if (first > 0 && failed(verifyBoundary(module, phases()[first - 1]))) refuseStart();
  if (first > placeOf("schedule")) verifyProgram();
  for (size_t i = first; i <= last; ++i) {
    auto start = std::chrono::steady_clock::now();
    // Packages need code, whatever phase the run starts from.
    if (phases()[i].name == "package" && images.empty()) generateCode();
    runPhase(phases()[i]);
    if (phases()[i].name == "fuse" && options.tuneSeconds > 0) tune();
    std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    result.times.push_back({phases()[i].name.str(), seconds.count()});
    dump(i);
  }
}
} // namespace

CompileResult sprig::compileModule(ModuleOp module, const CompileOptions &options, const RemarkSink &remarks,
                                   const PackageTimer &timer) {
  Compilation compilation(module, options, remarks, timer);
  compilation.run();
  return std::move(compilation.result);
}

void sprig::checkOptions(ModuleOp module, const CompileOptions &options) {
  Compilation(module, options, nullptr, nullptr);
}

void sprig::runPhases(ModuleOp module, const CompileOptions &options, StringRef last, std::vector<PhaseTime> *times,
                      const RemarkSink &remarks) {
  CompileOptions partial = options;
  partial.compileTo = last.str();
  CompileResult result = compileModule(module, partial, remarks);
  if (times) times->insert(times->end(), result.times.begin(), result.times.end());
}

void sprig::divideForRanks(ModuleOp module, CompileOptions &options, std::vector<PhaseTime> *times,
                           const RemarkSink &remarks, const FactorReport &report) {
  auto start = std::chrono::steady_clock::now();
  options.compileFrom = "shard";
  Compilation(module, options, remarks, nullptr).divide(report);
  options.mesh.clear();
  options.strategy.clear();
  options.weights.clear();
  options.rank = -1;
  options.factors = FactorPolicy::never;
  std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  if (times) times->push_back({"shard", seconds.count()});
}
