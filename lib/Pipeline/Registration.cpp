// What drivers can read and run: dialects, passes, one pipeline per phase.
#include "dialects/Dist/Dist.h"
#include "dialects/Exec/Exec.h"
#include "dialects/Kernel/KernelDialect.h"
#include "dialects/NN/NNDialect.h"
#include "lib/Lengths/Passes.h"
#include "lib/Place/Passes.h"
#include "lib/Schedule/Passes.h"
#include "lib/Shard/Passes.h"
#include "lib/Pipeline/CheckProgram.h"
#include "lib/Pipeline/Phases.h"
#include "lib/Target/Registry.h"
#include "lib/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace sprig;

void sprig::registerSprigDialects(DialectRegistry &registry) {
  registry.insert<ir::NNDialect, kernel::KernelDialect, exec::ExecDialect, ir::dist::DistDialect, func::FuncDialect>();
  for (const Target *target : targets()) target->registerDialects(registry);
}

namespace {
// The boundary check as a pass, so that a phase's pipeline in sprig-opt ends as the phase does.
struct VerifyPhase : PassWrapper<VerifyPhase, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyPhase)
  explicit VerifyPhase(const Phase &phase) : phase(phase) {}
  StringRef getName() const override { return "VerifyPhase"; }
  void runOnOperation() override {
    if (failed(verifyBoundary(getOperation(), phase))) signalPassFailure();
  }
  const Phase &phase;
};

// What the readers of programs check, for phases that are run on any module.
struct CheckProgram : PassWrapper<CheckProgram, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CheckProgram)
  StringRef getName() const override { return "CheckProgram"; }
  void runOnOperation() override {
    if (failed(checkProgram(getOperation()))) signalPassFailure();
  }
};

// Options of phase pipelines that change what passes do; they feed the one CompileOptions.
struct PhaseOptions : PassPipelineOptions<PhaseOptions> {
  Option<bool> fuse{*this, "fuse", llvm::cl::desc("let operations share kernels"), llvm::cl::init(true)};
  Option<bool> freeze{*this, "freeze", llvm::cl::desc("make parameters constants"), llvm::cl::init(true)};
  Option<std::string> target{*this, "target", llvm::cl::desc("kind of device to compile for"), llvm::cl::init("cpu")};
  Option<bool> strict{*this, "strict", llvm::cl::desc("no rewrites that change bits"), llvm::cl::init(false)};
  Option<std::string> mesh{*this, "mesh", llvm::cl::desc("axes of ranks to divide over, as data=2,model=2")};
  ListOption<std::string> shardings{*this, "shardings", llvm::cl::desc("each as {NAME=data,-}")};
  Option<int64_t> rank{*this, "rank", llvm::cl::desc("the only rank to compile; below 0: all"), llvm::cl::init(-1)};
};
} // namespace

void sprig::registerSprigPassesAndPhases() {
  registerSprigPasses();
  registerSprigLengthsPasses();
  registerSprigPlacePasses();
  registerSprigSchedulePasses();
  registerSprigShardPasses();
  for (const Target *target : targets()) target->registerPasses();
  for (const Phase &phase : phases()) {
    if (!phase.build) continue;
    std::string name = ("sprig-phase-" + phase.name).str();
    auto build = [&phase](OpPassManager &passes, const PhaseOptions &given) {
      CompileOptions options;
      options.target = given.target;
      options.fuse = given.fuse;
      options.freeze = given.freeze;
      options.math = given.strict ? MathMode::strict : MathMode::fast;
      options.mesh = given.mesh;
      options.shardings.assign(given.shardings.begin(), given.shardings.end());
      options.rank = given.rank;
      passes.addPass(std::make_unique<CheckProgram>());
      phase.build(passes, options);
      passes.addPass(std::make_unique<VerifyPhase>(phase));
    };
    PassPipelineRegistration<PhaseOptions>(name, phase.summary, build);
  }
}
