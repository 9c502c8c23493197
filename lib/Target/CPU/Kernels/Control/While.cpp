// nn.while: one kernel with a loop around the dispatches of condition and body.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/NN/NNControl.h"
#include "lib/Target/CPU/Kernels/Control/ControlRegion.h"
#include "lib/Target/CPU/Kernels/Builder/KernelEmitter.h"
#include "runtime/include/sprig/rt/kernel.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
WhilePlaces placesOf(kernel::DispatchOp dispatch, ir::WhileOp loop) {
  return WhilePlaces(dispatch, loop, cpuParts(), partScratch(loop));
}

class WhileCode : public LoopBuffers {
public:
  WhileCode(kernel::DispatchOp dispatch, KernelBuilder &kernel, const WhilePlaces &places)
      : LoopBuffers(kernel, dispatch, places), loop(places.loop), places(places), k(kernel) {}

  LogicalResult emit() {
    start();
    Value zero = k.index(0), fine = code(SPRIG_RT_KERNEL_OK);
    auto op = scf::WhileOp::create(k.b, k.loc, TypeRange{fine.getType(), zero.getType()}, ValueRange{fine, zero});
    ControlRegion test(k, loop.getTest(), arguments(), *places.condition, 1);
    ControlRegion step(k, loop.getStep(), arguments(), *places.body, test.nextOperation());
    Block *before = enter(op.getBefore()), *after = enter(op.getAfter());
    {
      OpBuilder::InsertionGuard guard(k.b);
      k.b.setInsertionPointToStart(before);
      if (failed(emitTest(test, before->getArgument(0), before->getArgument(1)))) return failure();
      k.b.setInsertionPointToStart(after);
      if (failed(emitStep(step, after->getArgument(1)))) return failure();
    }
    func::ReturnOp::create(k.b, k.loc, op.getResult(0));
    return success();
  }

private:
  void copy(Value from, Value to) override { copyBuffer(k, from, to); }
  Value code(int32_t value) { return arith::ConstantIntOp::create(k.b, k.loc, value, 32); }
  Block *enter(Region &region) {
    Block *block = &region.emplaceBlock();
    block->addArguments({k.b.getI32Type(), k.b.getIndexType()}, {k.loc, k.loc});
    return block;
  }

  // Goes on where no error has come up, steps are left and the condition holds.
  LogicalResult emitTest(ControlRegion &test, Value before, Value steps) {
    Type i32 = k.b.getI32Type(), i1 = k.b.getI1Type();
    Value goesOn = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::eq, before, code(SPRIG_RT_KERNEL_OK));
    if (auto most = loop.getMaxSteps()) {
      Value left = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ult, steps, k.index(*most));
      goesOn = arith::AndIOp::create(k.b, k.loc, goesOn, left);
    }
    auto tested = scf::IfOp::create(k.b, k.loc, TypeRange{i32, i1}, goesOn, /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(k.b);
      k.b.setInsertionPointToStart(tested.elseBlock());
      Value no = arith::ConstantIntOp::create(k.b, k.loc, 0, 1);
      scf::YieldOp::create(k.b, k.loc, ValueRange{before, no});
      k.b.setInsertionPointToStart(tested.thenBlock());
      FailureOr<Value> result = test.emit();
      if (failed(result)) return failure();
      Value flag = loadFlag(k, test.bufferOf(loop.getTest().getTerminator()->getOperand(0)));
      Value isFine = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::eq, *result, code(SPRIG_RT_KERNEL_OK));
      Value holds = arith::AndIOp::create(k.b, k.loc, isFine, flag);
      scf::YieldOp::create(k.b, k.loc, ValueRange{*result, holds});
    }
    scf::ConditionOp::create(k.b, k.loc, tested.getResult(1), ValueRange{tested.getResult(0), steps});
    return success();
  }

  LogicalResult emitStep(ControlRegion &step, Value steps) {
    placeResults(step);
    FailureOr<Value> result = step.emit();
    if (failed(result)) return failure();
    carryOver(step);
    scf::YieldOp::create(k.b, k.loc, ValueRange{*result, k.add(steps, 1)});
    return success();
  }

  ir::WhileOp loop;
  const WhilePlaces &places;
  KernelBuilder &k;
};

struct WhileEmitter : ControlEmitter<KernelEmitter, ir::WhileOp, cpuParts> {
  KernelPlan plan(kernel::DispatchOp dispatch) const override {
    KernelPlan plan;
    plan.tiles = 1;
    plan.scratchBytes = placesOf(dispatch, controlIn<ir::WhileOp>(dispatch)).scratch;
    return plan;
  }

  LogicalResult emit(kernel::DispatchOp dispatch, KernelBuilder &k) const override {
    return WhileCode(dispatch, k, placesOf(dispatch, controlIn<ir::WhileOp>(dispatch))).emit();
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createWhileEmitter() { return std::make_unique<WhileEmitter>(); }
