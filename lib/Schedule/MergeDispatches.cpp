#define GEN_PASS_DEF_MERGEDISPATCHES
#include "lib/Schedule/Passes.h"
#include "lib/Schedule/Composite.h"
#include "lib/Target/Registry.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::exec;

namespace {
struct MergeDispatches : sprig::impl::MergeDispatchesBase<MergeDispatches> {
  using MergeDispatchesBase::MergeDispatchesBase;

  void runOnOperation() override {
    const Target *device = targetForPass(getOperation(), target);
    if (!device) return signalPassFailure();
    limit = device->mergedProgram().orGiven(maxFlops, maxBytes);
    SymbolTable symbols(getOperation());
    for (auto program : llvm::to_vector(getOperation().getOps<ProgramOp>())) {
      auto lanes = llvm::to_vector(program.getBody().getOps<LaneOp>());
      // Several lanes: their work is meant to run side by side.
      if (lanes.size() == 1 && isSmall(lanes.front(), symbols)) merge(program, lanes.front(), symbols);
    }
  }

private:
  bool isSmall(LaneOp lane, SymbolTable &symbols) {
    int64_t flops = 0, bytes = 0, count = 0;
    for (Operation &command : lane.getBody().front()) {
      auto dispatch = dyn_cast<exec::DispatchOp>(command);
      if (!dispatch) {
        // Other work runs as it is, before or after the merged kernel; events order lanes.
        if (cast<CommandOpInterface>(command).isEvent()) return false;
        continue;
      }
      auto kernel = symbols.lookup<KernelOp>(dispatch.getKernel());
      if (kernel.isComposite() || dispatch.isPart() || kernel.getTiles() > kernel.getGrain()) return false;
      flops += kernel.getFlops();
      bytes += kernel.getBytes();
      ++count;
    }
    return count > 1 && flops <= limit.flops && bytes <= limit.bytes;
  }

  SmallProgram limit;

  void merge(ProgramOp program, LaneOp lane, SymbolTable &symbols) {
    // Compiling a kernel that calls more takes longer than linear time, and gains nothing.
    constexpr size_t kMostCalls = 256;
    for (auto &run : runsOfDispatches(lane)) {
      SmallVector<exec::DispatchOp> calls;
      auto flush = [&] {
        if (calls.size() > 1) mergeRun(program, calls, symbols);
        calls.clear();
      };
      for (exec::DispatchOp dispatch : run) {
        bool isCalled = isCallable(symbols.lookup<KernelOp>(dispatch.getKernel()));
        if (!isCalled || calls.size() == kMostCalls) flush();
        if (isCalled) calls.push_back(dispatch);
      }
      flush();
    }
  }

  void mergeRun(ProgramOp program, ArrayRef<exec::DispatchOp> run, SymbolTable &symbols) {
    SmallVector<CompositeCall> calls;
    for (exec::DispatchOp dispatch : run) calls.push_back({dispatch});
    makeComposite((program.getSymName() + "_commands").str(), program.getSymName(), calls, /*tiles=*/1, symbols);
    remark::passed(program.getLoc(), remark::RemarkOpts::name("merge").category("schedule"))
        << ("one command of " + std::to_string(run.size()) + " kernels in '" + program.getSymName() + "'").str();
  }
};
} // namespace
