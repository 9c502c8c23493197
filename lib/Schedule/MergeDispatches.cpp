#include "lib/Schedule/Passes.h"
#include "lib/Target/Registry.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "llvm/ADT/SetVector.h"

namespace sprig {
#define GEN_PASS_DEF_MERGEDISPATCHES
#include "lib/Schedule/Passes.h.inc"
} // namespace sprig

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

  // Runs of dispatches without other work between them.
  void merge(ProgramOp program, LaneOp lane, SymbolTable &symbols) {
    SmallVector<SmallVector<exec::DispatchOp>> runs(1);
    for (Operation &command : lane.getBody().front()) {
      if (auto dispatch = dyn_cast<exec::DispatchOp>(command))
        runs.back().push_back(dispatch);
      else if (!runs.back().empty())
        runs.emplace_back();
    }
    for (auto &run : runs)
      if (run.size() > 1) mergeRun(program, run, symbols);
  }

  void mergeRun(ProgramOp program, ArrayRef<exec::DispatchOp> run, SymbolTable &symbols) {
    llvm::SetVector<Value> buffers;
    int64_t scratch = 0, flops = 0, bytes = 0;
    SmallVector<Location> locations;
    for (exec::DispatchOp dispatch : run) {
      auto kernel = symbols.lookup<KernelOp>(dispatch.getKernel());
      buffers.insert(dispatch.getBuffers().begin(), dispatch.getBuffers().end());
      scratch = std::max<int64_t>(scratch, kernel.getScratch());
      flops += kernel.getFlops();
      bytes += kernel.getBytes();
      locations.push_back(dispatch.getLoc());
    }
    OpBuilder b(program);
    Location loc = b.getFusedLoc(locations);
    StringAttr label = b.getStringAttr(program.getSymName() + "_commands");
    auto type = b.getFunctionType(ValueRange(buffers.getArrayRef()).getTypes(), {});
    auto kernel =
        KernelOp::create(b, loc, label.getValue(), type, /*tiles=*/1, /*grain=*/1, scratch, flops, bytes, label,
                         /*places=*/{});
    Block &body = kernel.getBody().emplaceBlock();
    IRMapping mapping;
    for (Value buffer : buffers) mapping.map(buffer, body.addArgument(buffer.getType(), buffer.getLoc()));
    b.setInsertionPointToStart(&body);
    for (exec::DispatchOp dispatch : run) {
      SmallVector<Value> arguments;
      for (Value buffer : dispatch.getBuffers()) arguments.push_back(mapping.lookup(buffer));
      CallOp::create(b, dispatch.getLoc(), dispatch.getKernelAttr(), arguments);
    }
    symbols.insert(kernel);
    b.setInsertionPoint(run.front());
    exec::DispatchOp::create(b, loc, FlatSymbolRefAttr::get(kernel.getSymNameAttr()), buffers.getArrayRef(),
                             b.getStringAttr(program.getSymName()));
    for (exec::DispatchOp dispatch : run) dispatch.erase();
    remark::passed(program.getLoc(), remark::RemarkOpts::name("merge").category("schedule"))
        << ("one command of " + std::to_string(run.size()) + " kernels in '" + program.getSymName() + "'").str();
  }
};
} // namespace
