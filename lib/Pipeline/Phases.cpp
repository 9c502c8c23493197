#include "lib/Pipeline/Phases.h"
#include "lib/Pipeline/Pipeline.h"
#include "dialects/Dist/Dist.h"
#include "dialects/Exec/Exec.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNState.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Lengths/Passes.h"
#include "lib/Place/Passes.h"
#include "lib/Schedule/Passes.h"
#include "lib/Shard/Passes.h"
#include "lib/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace sprig;

static void buildImport(OpPassManager &passes, const CompileOptions &options) {}

static void simplify(OpPassManager &passes, const CompileOptions &options, bool keepQuantized = false,
                     bool keepNarrow = false, bool foldEmpty = false) {
  passes.addNestedPass<func::FuncOp>(createFoldConstants({.keepQuantized = keepQuantized,
                                                          .keepNarrow = keepNarrow,
                                                          .exact = options.math == MathMode::strict,
                                                          .empty = foldEmpty}));
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
}

// Parameters are divided while they are parameters, and what simplifies a program looks at its constants. So where
// ranks share an inference both come behind the division.
static bool freezesParts(const CompileOptions &options) { return options.freeze && !options.mesh.empty(); }

static void freezeAndSimplify(OpPassManager &passes, const CompileOptions &options) {
  // Before anything folds: what freeze makes constant decides what folds.
  if (options.freeze) passes.addPass(createFreeze({.strict = options.math == MathMode::strict}));
  simplify(passes, options, /*keepQuantized=*/true);
}

static void selectAndSimplify(OpPassManager &passes, const CompileOptions &options) {
  passes.addNestedPass<func::FuncOp>(createSelectEarly());
  simplify(passes, options, /*keepQuantized=*/true);
}

static void buildCanonicalize(OpPassManager &passes, const CompileOptions &options) {
  // On programs as they were imported, while those of several lengths are alike.
  passes.addPass(createMaskLengths({.target = options.target}));
  passes.addPass(createKeepStates());
  if (!freezesParts(options)) freezeAndSimplify(passes, options);
}

static void buildDifferentiate(OpPassManager &passes, const CompileOptions &options) {
  // While reads of parameters and gradients can be told from other values.
  passes.addPass(createStateStrategy(
      {.strategy = options.strategy, .mesh = options.mesh, .weights = llvm::to_vector(options.weights)}));
  passes.addNestedPass<func::FuncOp>(createDifferentiate());
  if (!freezesParts(options)) selectAndSimplify(passes, options);
}

void sprig::addFactorPasses(OpPassManager &passes, const CompileOptions &options, const FactorReport &report) {
  if (options.factors == FactorPolicy::never) return;
  passes.addNestedPass<func::FuncOp>(createGatherFactors({.always = options.factors == FactorPolicy::always,
                                                          .divide = options.dividesProducts,
                                                          .weights = llvm::to_vector(options.weights)},
                                                         report));
  simplify(passes, options, /*keepQuantized=*/true);
}

void sprig::addShardingPasses(OpPassManager &passes, const CompileOptions &options) {
  passes.addPass(createStateShardings({.mesh = options.mesh, .shardings = llvm::to_vector(options.shardings)}));
  passes.addPass(createPropagateShardings({.parameters = true}));
}

void sprig::addDivisionPasses(OpPassManager &passes, const CompileOptions &options, bool together) {
  if (options.strategy.empty()) return;
  passes.addPass(createPropagateShardings());
  passes.addPass(createCSEPass()); // a loss and its gradient count the same rows
  passes.addPass(createPartition({.rank = options.rank,
                                  .together = together,
                                  .allowGather = options.allowGather,
                                  .noteMost = options.rematBytes > 0}));
  simplify(passes, options, /*keepQuantized=*/true);
}

static void buildShard(OpPassManager &passes, const CompileOptions &options) {
  addDivisionPasses(passes, options);
  if (!options.mesh.empty() && options.strategy.empty()) {
    addShardingPasses(passes, options);
    passes.addPass(createPartitionRanks({.rank = options.rank}));
  }
  if (freezesParts(options)) {
    freezeAndSimplify(passes, options);
    selectAndSimplify(passes, options);
  }
  // On products as differentiation leaves them, and before anybody counts what all-reduces take.
  addFactorPasses(passes, options);
  passes.addNestedPass<func::FuncOp>(createDropLoneCollectives());
  // While the order is the function's own, which is that of all ranks.
  BucketCollectivesOptions buckets;
  if (options.bucketBytes) buckets.bytes = options.bucketBytes;
  passes.addNestedPass<func::FuncOp>(createBucketCollectives(buckets));
  passes.addNestedPass<func::FuncOp>(createPlanCollectives());
}

static void buildRemat(OpPassManager &passes, const CompileOptions &options) {
  passes.addNestedPass<func::FuncOp>(createRemat({.bytes = options.rematBytes}));
}

// On one device and lane, whose threads have pieces of the samples; of constant weights, which no piece packs anew.
static bool splitsSamples(const CompileOptions &options) {
  return options.fuse && options.merge && options.freeze && options.lanes < 2 && options.devices.size() < 2 &&
         targetOf(options).takesComposites();
}

static void buildFuse(OpPassManager &passes, const CompileOptions &options) {
  // Only constant weights: those of packages for inference.
  if (options.freeze && options.math == MathMode::fast && targetOf(options).takesDotProducts())
    passes.addNestedPass<func::FuncOp>(createIntegerProducts());
  passes.addNestedPass<func::FuncOp>(createDecompose());
  // With bf16 all constants are rounded that products read.
  bool keepNarrow = options.freeze && options.precision != Precision::bf16 && targetOf(options).takesDotProducts();
  simplify(passes, options, /*keepQuantized=*/false, keepNarrow);
  passes.addNestedPass<func::FuncOp>(createBandMasks());
  // On primitives, before layouts move axes.
  passes.addPass(createIndependentSamples());
  if (splitsSamples(options))
    passes.addPass(createSplitSamples({.threads = options.threads,
                                       .target = options.target,
                                       .architectures = llvm::to_vector(options.architectures)}));
  passes.addNestedPass<func::FuncOp>(createUnrollScans({.all = !options.fuse, .target = options.target}));
  passes.addNestedPass<func::FuncOp>(createWidenProducts({.target = options.target}));
  passes.addNestedPass<func::FuncOp>(createReshapeTransposes());
  passes.addNestedPass<func::FuncOp>(createSplitSums());
  targetOf(options).addLayoutPasses(passes, options);
  if (options.prepare) passes.addPass(createPrepare());
  // What has no elements: collectives are joined and samples followed by now, both by what depends on what.
  simplify(passes, options, /*keepQuantized=*/false, /*keepNarrow=*/false, /*foldEmpty=*/true);
  // What comes now joins operations and changes no bit, so that no choice of devices does.
  if (options.devices.size() > 1) {
    PlaceOptions place;
    place.devices = llvm::to_vector(options.devices);
    for (const auto &[layer, device] : options.places) place.pins.push_back(layer + "=" + device);
    place.links = llvm::join(options.links, ";");
    place.threads = options.threads;
    place.target = options.target;
    place.architectures = llvm::to_vector(options.architectures);
    passes.addPass(createPlace(std::move(place), options.explainPlacement));
  }
  passes.addNestedPass<func::FuncOp>(
      createFuse({.fuse = options.fuse, .target = options.target, .tf32 = options.precision == Precision::tf32}));
  if (options.precision == Precision::tf32) passes.addNestedPass<func::FuncOp>(createAllowTf32());
  if (options.freeze && options.math == MathMode::fast) passes.addNestedPass<func::FuncOp>(createSkipMasked());
  if (options.fuse) passes.addNestedPass<func::FuncOp>(createShareKernels({.target = options.target}));
  passes.addNestedPass<func::FuncOp>(createReportEmitters({.target = options.target}));
  passes.addNestedPass<func::FuncOp>(createCheckCollectives());
}

// A pass that makes or moves commands, and the proof of their order.
static void addOrdered(OpPassManager &passes, std::unique_ptr<Pass> pass) {
  passes.addPass(std::move(pass));
  passes.addPass(createVerifyOrder());
}

static void buildSchedule(OpPassManager &passes, const CompileOptions &options) {
  passes.addPass(createSchedule({.target = options.target}));
  addOrdered(passes, createChooseThreads(threadShares(targetOf(options).machine(options), options.threads)));
}

static void spreadOverLanes(OpPassManager &passes, const CompileOptions &options) {
  unsigned lanes = options.lanes ? unsigned(options.lanes) : targetOf(options).defaultLanes();
  if (lanes < 2) return;
  addOrdered(passes, createAssignLanes({.lanes = lanes,
                                        .threads = options.threads,
                                        .target = options.target,
                                        .architectures = llvm::to_vector(options.architectures)}));
}

template <typename PassOptions> static void describeLink(PassOptions &pass, const CompileOptions &options) {
  if (!options.link) return;
  pass.latency = options.link->latency;
  pass.rate = options.link->bytesPerSecond;
}

static void buildPlan(OpPassManager &passes, const CompileOptions &options) {
  // Here, so that programs that come in after `schedule`, which name their devices themselves, are spread too. Where
  // the threads of one lane can have branches side by side, lanes choose first.
  const bool spreadsFirst = targetOf(options).takesComposites();
  SmallVector<std::string> architectures = llvm::to_vector(options.architectures);
  if (spreadsFirst) spreadOverLanes(passes, options);
  if (options.merge)
    addOrdered(passes, createJoinBranches(
                           {.threads = options.threads, .target = options.target, .architectures = architectures}));
  // The largest fusion there is; without it, those who look at single kernels find them.
  if (options.fuse && options.merge) addOrdered(passes, createInlineDispatches({.target = options.target}));
  // Behind what makes kernels, which all repetitions share.
  RepeatProgramsOptions repeated{.target = options.target, .architectures = architectures};
  describeLink(repeated, options);
  addOrdered(passes, createRepeatPrograms(repeated));
  if (!spreadsFirst) spreadOverLanes(passes, options);
  // Behind what looks at programs of one lane.
  using Beside = CompileOptions::Link::Beside;
  const Beside beside = options.link ? options.link->beside : Beside::wherePays;
  OverlapCollectivesOptions apart{
      .all = beside == Beside::always, .target = options.target, .architectures = architectures};
  describeLink(apart, options);
  if (beside != Beside::never) addOrdered(passes, createOverlapCollectives(apart));
  passes.addNestedPass<exec::ProgramOp>(createPlanMemory());
  passes.addPass(createVerifyOrder());
  addOrdered(passes, createRepeatPieces(
                         {.threads = options.threads, .target = options.target, .architectures = architectures}));
  if (options.merge) addOrdered(passes, createMergeDispatches({.target = options.target}));
}

static bool isModuleOrFunction(Operation *op) { return isa<ModuleOp, func::FuncOp, func::ReturnOp>(op); }

// What ranks do together stays as it is until it becomes commands; the steps of one rank are for reading.
static bool isOfRanks(Operation *op) { return isa<ir::dist::MeshOp>(op) || ir::dist::collectiveUse(op); }

// The graph as front-ends make it, of whole values or one rank's: nothing of the dialect kernel yet.
static bool allowsGraph(Operation *op) {
  return isModuleOrFunction(op) || isOfRanks(op) || isa<ir::dist::ShardOp>(op) ||
         isa_and_nonnull<ir::NNDialect>(op->getDialect());
}

static bool allowsDifferentiated(Operation *op) {
  return allowsGraph(op) &&
         !isa<ir::GradientOp, ir::JvpOp, ir::StopGradientOp, ir::CheckpointOp, ir::CustomGradientOp>(op);
}

static bool allowsSharded(Operation *op) { return allowsDifferentiated(op) && !isa<ir::dist::ShardOp>(op); }

// Around dispatches only what is no work: constants, parameters and views.
static bool allowsDispatches(Operation *op) {
  if (isModuleOrFunction(op) || isOfRanks(op) || op->getParentOfType<kernel::DispatchOp>()) return true;
  return sharesStorage(op) || isa<ir::ParamOp, ir::GetParamOp, ir::SetParamOp, ir::ConstantOp, kernel::DispatchOp>(op);
}

static bool allowsProgram(Operation *op) {
  if (op->getParentOfType<kernel::DispatchOp>()) return true;
  // A view between two dispatches of one kernel.
  if (sharesStorage(op)) return isa<exec::KernelOp>(op->getParentOp());
  return isa<ModuleOp, ir::ParamOp, kernel::DispatchOp>(op) || isa_and_nonnull<exec::ExecDialect>(op->getDialect());
}

static bool allowsPlannedProgram(Operation *op) {
  if (auto buffer = dyn_cast<exec::BufferOp>(op))
    return buffer.getKind() != exec::BufferKind::arena || buffer.getOffset().has_value();
  return allowsProgram(op);
}

ArrayRef<Phase> sprig::phases() {
  static const Phase table[] = {
      {"import", "Read the model", buildImport, allowsGraph},
      {"canonicalize", "Simplify; make parameters constants when the package is for inference only", buildCanonicalize,
       allowsGraph},
      {"differentiate", "Replace requests for gradients by expressions", buildDifferentiate, allowsDifferentiated},
      {"shard", "Divide over the ranks of a mesh; join what ranks tell each other", buildShard, allowsSharded},
      {"remat", "Compute values again that would wait for the backward pass", buildRemat, allowsSharded},
      {"fuse", "Decompose, choose layouts, pack, place on devices, form dispatches", buildFuse, allowsDispatches},
      {"schedule", "Make programs of kernels, buffers and commands", buildSchedule, allowsProgram},
      {"plan", "Spread over lanes, give buffers their places", buildPlan, allowsPlannedProgram},
      {"codegen", "Generate machine code", nullptr, allowsPlannedProgram},
      {"package", "Write the package", nullptr, allowsPlannedProgram},
  };
  return table;
}

llvm::Expected<size_t> sprig::phaseByName(StringRef name) {
  SmallVector<StringRef> names;
  for (auto [index, phase] : llvm::enumerate(phases())) {
    if (phase.name == name) return index;
    names.push_back(phase.name);
  }
  return llvm::createStringError("there is no phase '" + name + "'; the phases are " + llvm::join(names, ", "));
}

LogicalResult sprig::verifyBoundary(ModuleOp module, const Phase &phase) {
  llvm::DenseSet<OperationName> reported;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (phase.allows(op) || !reported.insert(op->getName()).second) return;
    op->emitOpError("is left after phase '") << phase.name << "', which does not allow it";
  });
  return success(reported.empty());
}
