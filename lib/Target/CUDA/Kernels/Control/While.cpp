// nn.while: one block with a loop around the dispatches of condition and body.
#include "lib/Target/CUDA/Kernels/Control/GpuRegion.h"
#include "lib/Target/CUDA/Kernels/Emitters.h"

using namespace mlir;
using namespace sprig;

namespace {
class GpuWhileCode {
public:
  GpuWhileCode(kernel::DispatchOp dispatch, ir::WhileOp loop, GpuBuilder &kernel)
      : dispatch(dispatch), loop(loop), k(kernel), places(dispatch, loop, gpuParts()) {}

  LogicalResult emit() {
    start();
    GpuRegion test(k, loop.getTest(), buffers, *places.condition, k.firstOperation + 1);
    GpuRegion step(k, loop.getStep(), buffers, *places.body, test.nextOperation());
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
  // The places of what is carried, with the first values, and the invariants as they lie.
  void start() {
    for (auto [i, operand] : llvm::enumerate(loop->getOperands())) {
      Value given = k.bufferOf(cast<BlockArgument>(operand));
      if (i >= loop.getNumCarried()) {
        buffers.push_back(given);
        continue;
      }
      Value own = places.current[i] < 0 ? k.resultBuffer(*positionInDispatch(dispatch, loop.getResult(i)))
                                        : k.scratchBuffer(places.current[i], cast<MemRefType>(given.getType()));
      copyBuffer(k, given, own);
      buffers.push_back(own);
    }
    k.barrier();
  }

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
    for (auto [value, carried] : places.direct) step.place(value, buffers[carried]);
    if (failed(step.emit())) return failure();
    // Values that change places are put aside before any of them is overwritten.
    llvm::DenseMap<unsigned, Value> aside;
    for (auto [carried, offset] : places.saved) {
      Value from = step.bufferOf(places.next[carried]);
      Value to = aside[carried] = k.scratchBuffer(offset, cast<MemRefType>(from.getType()));
      copyBuffer(k, from, to);
    }
    if (!aside.empty()) k.barrier();
    for (unsigned i = 0; i < loop.getNumCarried(); ++i) {
      if (places.isInPlace(i)) continue;
      Value from = aside.lookup(i);
      copyBuffer(k, from ? from : step.bufferOf(places.next[i]), buffers[i]);
    }
    k.barrier();
    return mayHaveFailed(step) ? isFineSoFar(k) : Value(arith::ConstantIntOp::create(k.b, k.loc, 1, 1));
  }

  kernel::DispatchOp dispatch;
  ir::WhileOp loop;
  GpuBuilder &k;
  WhilePlaces places;
  SmallVector<Value> buffers; // of the regions' arguments
};

class GpuWhileEmitter : public GpuEmitter {
public:
  StringRef name() const override { return "while"; }
  bool matches(kernel::DispatchOp dispatch) const override {
    return isa_and_present<ir::WhileOp>(controlIn(dispatch, gpuParts()));
  }

  GpuPlan plan(kernel::DispatchOp dispatch) const override {
    auto loop = cast<ir::WhileOp>(controlIn(dispatch, gpuParts()));
    return planOfControl(loop, WhilePlaces(dispatch, loop, gpuParts()).scratch);
  }

  LogicalResult emit(kernel::DispatchOp dispatch, GpuBuilder &k, Value) const override {
    return GpuWhileCode(dispatch, cast<ir::WhileOp>(controlIn(dispatch, gpuParts())), k).emit();
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::createGpuWhileEmitter() { return std::make_unique<GpuWhileEmitter>(); }
