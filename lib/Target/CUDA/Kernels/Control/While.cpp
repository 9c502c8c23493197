// nn.while: one block with a loop around the dispatches of condition and body.
#include "lib/Target/CUDA/Kernels/Control/GpuRegion.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

namespace {
class GpuWhileCode : public LoopBuffers {
public:
  GpuWhileCode(kernel::DispatchOp dispatch, GpuBuilder &kernel, const WhilePlaces &places)
      : LoopBuffers(kernel, dispatch, places), loop(places.loop), places(places), k(kernel) {}

  LogicalResult emit() {
    start();
    GpuRegion test(k, loop.getTest(), arguments(), *places.condition, k.firstOperation + 1);
    GpuRegion step(k, loop.getStep(), arguments(), *places.body, test.nextOperation());
    Type index = k.b.getIndexType(), i1 = k.b.getI1Type();
    Value yes = arith::ConstantIntOp::create(k.b, k.loc, 1, 1);
    // Of the steps so far, and whether none of them has failed.
    auto op = scf::WhileOp::create(k.b, k.loc, TypeRange{index}, ValueRange{k.index(0), yes});
    Block *before = &op.getBefore().emplaceBlock(), *after = &op.getAfter().emplaceBlock();
    before->addArguments({index, i1}, {k.loc, k.loc});
    after->addArgument(index, k.loc);
    OpBuilder::InsertionGuard guard(k.b);
    k.b.setInsertionPointToStart(before);
    FailureOr<Value> goesOn = emitTest(test, before->getArgument(0), before->getArgument(1));
    if (failed(goesOn)) return failure();
    scf::ConditionOp::create(k.b, k.loc, *goesOn, before->getArgument(0));
    k.b.setInsertionPointToStart(after);
    FailureOr<Value> isFine = emitStep(step);
    if (failed(isFine)) return failure();
    scf::YieldOp::create(k.b, k.loc, ValueRange{k.add(after->getArgument(0), 1), *isFine});
    return success();
  }

private:
  void copy(Value from, Value to) override { copyBuffer(k, from, to); }
  void meet() override { k.barrier(); }

  /// Whether an error may have come up in this kernel; then what a loop goes by may not end it.
  bool mayHaveFailed(const GpuRegion &region) const { return region.mayFail() || k.firstOperation > 0; }

  // Goes on where no error has come up, steps are left and the condition holds.
  FailureOr<Value> emitTest(GpuRegion &test, Value steps, Value isFine) {
    if (auto most = loop.getMaxSteps()) {
      Value left = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ult, steps, k.index(*most));
      isFine = arith::AndIOp::create(k.b, k.loc, isFine, left);
    }
    auto tested = scf::IfOp::create(k.b, k.loc, TypeRange{k.b.getI1Type()}, isFine, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(k.b);
    k.b.setInsertionPointToStart(tested.elseBlock());
    Value no = arith::ConstantIntOp::create(k.b, k.loc, 0, 1);
    scf::YieldOp::create(k.b, k.loc, no);
    k.b.setInsertionPointToStart(tested.thenBlock());
    if (failed(test.emit())) return failure();
    Value flag = loadFlag(k, test.bufferOf(loop.getTest().getTerminator()->getOperand(0)));
    if (mayHaveFailed(test)) flag = arith::AndIOp::create(k.b, k.loc, flag, isFineSoFar(k));
    scf::YieldOp::create(k.b, k.loc, flag);
    return tested.getResult(0);
  }

  // Leaves the next values where those of this step lie; gives whether it has not failed.
  FailureOr<Value> emitStep(GpuRegion &step) {
    placeResults(step);
    if (failed(step.emit())) return failure();
    carryOver(step);
    return mayHaveFailed(step) ? isFineSoFar(k) : Value(arith::ConstantIntOp::create(k.b, k.loc, 1, 1));
  }

  ir::WhileOp loop;
  const WhilePlaces &places;
  GpuBuilder &k;
};

struct GpuWhileEmitter : ControlEmitter<GpuEmitter, ir::WhileOp, gpuParts> {
  GpuPlan plan(kernel::DispatchOp dispatch) const override {
    auto loop = controlIn<ir::WhileOp>(dispatch);
    GpuPlan plan = planOfParts(loop);
    plan.scratchBytes = WhilePlaces(dispatch, loop, gpuParts(), plan.scratchBytes).scratch;
    return plan;
  }

  LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &k, Value) const override {
    auto loop = controlIn<ir::WhileOp>(dispatch);
    WhilePlaces places(dispatch, loop, gpuParts(), planOfParts(loop).scratchBytes);
    return GpuWhileCode(dispatch, k, places).emit();
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::cuda::createGpuWhileEmitter() { return std::make_unique<GpuWhileEmitter>(); }
