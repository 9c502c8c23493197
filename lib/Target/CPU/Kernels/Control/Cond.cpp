// nn.cond: one kernel that computes one of two regions.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/NN/NNControl.h"
#include "lib/Target/CPU/Kernels/Control/ControlRegion.h"
#include "runtime/include/sprig/rt/kernel.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
struct CondEmitter : ControlEmitter<KernelEmitter, ir::CondOp, cpuParts> {
  KernelPlan plan(kernel::DispatchOp dispatch) const override {
    auto cond = controlIn<ir::CondOp>(dispatch);
    KernelPlan plan;
    plan.tiles = 1;
    plan.scratchBytes = scratchOf(dispatch, cond, partScratch(cond));
    return plan;
  }

  LogicalResult emit(kernel::DispatchOp dispatch, KernelBuilder &k) const override {
    auto cond = controlIn<ir::CondOp>(dispatch);
    int64_t scratch = partScratch(cond);
    auto bufferOf = [&](Value operand) { return k.operandBuffer(operand); };
    SmallVector<Value> inputs = llvm::map_to_vector(cond.getInputs(), bufferOf);
    Value flag = loadFlag(k, bufferOf(cond.getPredicate()));
    auto choice = scf::IfOp::create(k.b, k.loc, TypeRange{k.b.getI32Type()}, flag, /*withElseRegion=*/true);
    int32_t number = 1; // the cond itself is 0
    for (auto [block, into] : {std::pair(&cond.getThen(), choice.thenBlock()), {&cond.getElse(), choice.elseBlock()}}) {
      OpBuilder::InsertionGuard guard(k.b);
      k.b.setInsertionPointToStart(into);
      BranchPlaces places(dispatch, cond, *block, scratch);
      ControlRegion region(k, *block, inputs, *places.region, number);
      number = region.nextOperation();
      for (auto [value, result] : places.direct) region.place(value, k.resultBuffer(result));
      FailureOr<Value> code = region.emit();
      if (failed(code)) return failure();
      for (auto [value, result] : places.copies) copyBuffer(k, region.bufferOf(value), k.resultBuffer(result));
      scf::YieldOp::create(k.b, k.loc, *code);
    }
    // Its own end: the code comes from the parts.
    func::ReturnOp::create(k.b, k.loc, choice.getResult(0));
    return success();
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createCondEmitter() { return std::make_unique<CondEmitter>(); }
