// nn.cond: one block that computes one of two regions.
#include "lib/Target/CUDA/Kernels/Control/GpuRegion.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

namespace {
struct GpuCondEmitter : ControlEmitter<GpuEmitter, ir::CondOp, gpuParts> {
  GpuPlan plan(kernel::DispatchOp dispatch) const override {
    auto cond = controlIn<ir::CondOp>(dispatch);
    GpuPlan plan = planOfParts(cond);
    plan.scratchBytes = scratchOf(dispatch, cond, plan.scratchBytes);
    return plan;
  }

  LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &k, Value) const override {
    auto cond = controlIn<ir::CondOp>(dispatch);
    int64_t partScratch = planOfParts(cond).scratchBytes;
    auto bufferOf = [&](Value operand) { return k.bufferOf(cast<BlockArgument>(operand)); };
    SmallVector<Value> inputs = llvm::map_to_vector(cond.getInputs(), bufferOf);
    Value flag = loadFlag(k, bufferOf(cond.getPredicate()));
    int32_t number = k.firstOperation + 1; // after the cond itself
    LogicalResult emitted = success();
    auto emitBranch = [&](Block &block) {
      BranchPlaces places(dispatch, cond, block, partScratch);
      GpuRegion region(k, block, inputs, *places.region, number);
      number = region.nextOperation();
      for (auto [value, result] : places.direct) region.place(value, k.resultBuffer(result));
      if (failed(region.emit())) return void(emitted = failure());
      for (auto [value, result] : places.copies) copyBuffer(k, region.bufferOf(value), k.resultBuffer(result));
    };
    k.ifThen(flag, [&] { emitBranch(cond.getThen()); }, [&] { emitBranch(cond.getElse()); });
    return emitted;
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::cuda::createGpuCondEmitter() { return std::make_unique<GpuCondEmitter>(); }
