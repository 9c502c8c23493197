// nn.while: one kernel with a loop around the dispatches of condition and body.
#include "lib/Target/CPU/Kernels/Control/Control.h"
#include "dialects/NN/NNControl.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/CPU/Kernels/Control/ControlRegion.h"
#include "lib/Target/CPU/Kernels/Builder/KernelEmitter.h"
#include "runtime/include/sprig/rt/kernel.h"

using namespace mlir;
using namespace sprig;

namespace {
class WhileCode {
public:
  WhileCode(kernel::DispatchOp dispatch, ir::WhileOp loop, KernelBuilder &kernel)
      : dispatch(dispatch), loop(loop), k(kernel), places(dispatch, loop, cpuParts()) {}

  LogicalResult emit() {
    start();
    Value zero = k.index(0), fine = code(SPRIG_RT_KERNEL_OK);
    auto op = scf::WhileOp::create(k.b, k.loc, TypeRange{fine.getType(), zero.getType()}, ValueRange{fine, zero});
    ControlRegion test(k, loop.getTest(), buffers, *places.condition, 1);
    ControlRegion step(k, loop.getStep(), buffers, *places.body, test.nextOperation());
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
  Value code(int32_t value) { return arith::ConstantIntOp::create(k.b, k.loc, value, 32); }
  Block *enter(Region &region) {
    Block *block = &region.emplaceBlock();
    block->addArguments({k.b.getI32Type(), k.b.getIndexType()}, {k.loc, k.loc});
    return block;
  }

  // The places of what is carried, with the first values, and the invariants as they lie.
  void start() {
    for (auto [i, operand] : llvm::enumerate(loop->getOperands())) {
      Value given = k.operandBuffer(cast<BlockArgument>(operand));
      if (i >= loop.getNumCarried()) {
        buffers.push_back(given);
        continue;
      }
      Value own = places.current[i] < 0 ? k.resultBuffer(*positionInDispatch(dispatch, loop.getResult(i)))
                                        : k.scratchBuffer(places.current[i], cast<MemRefType>(given.getType()));
      copyBuffer(k, given, own);
      buffers.push_back(own);
    }
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
    for (auto [value, carried] : places.direct) step.place(value, buffers[carried]);
    FailureOr<Value> result = step.emit();
    if (failed(result)) return failure();
    // Values that change places are put aside before any of them is overwritten.
    llvm::DenseMap<unsigned, Value> aside;
    for (auto [carried, offset] : places.saved) {
      Value from = step.bufferOf(places.next[carried]);
      Value to = aside[carried] = k.scratchBuffer(offset, cast<MemRefType>(from.getType()));
      copyBuffer(k, from, to);
    }
    for (unsigned i = 0; i < loop.getNumCarried(); ++i) {
      if (places.isInPlace(i)) continue;
      Value from = aside.lookup(i);
      copyBuffer(k, from ? from : step.bufferOf(places.next[i]), buffers[i]);
    }
    scf::YieldOp::create(k.b, k.loc, ValueRange{*result, k.add(steps, 1)});
    return success();
  }

  kernel::DispatchOp dispatch;
  ir::WhileOp loop;
  KernelBuilder &k;
  WhilePlaces places;
  SmallVector<Value> buffers; // of the regions' arguments
};

class WhileEmitter : public KernelEmitter {
public:
  StringRef name() const override { return "while"; }
  bool matches(kernel::DispatchOp dispatch) const override {
    return isa_and_present<ir::WhileOp>(controlIn(dispatch, cpuParts()));
  }

  KernelPlan plan(kernel::DispatchOp dispatch) const override {
    KernelPlan plan;
    plan.tiles = 1;
    plan.scratchBytes = WhilePlaces(dispatch, cast<ir::WhileOp>(controlIn(dispatch, cpuParts())), cpuParts()).scratch;
    return plan;
  }

  LogicalResult emit(kernel::DispatchOp dispatch, KernelBuilder &k) const override {
    return WhileCode(dispatch, cast<ir::WhileOp>(controlIn(dispatch, cpuParts())), k).emit();
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::createWhileEmitter() { return std::make_unique<WhileEmitter>(); }
