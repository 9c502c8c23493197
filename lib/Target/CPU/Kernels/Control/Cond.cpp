// nn.cond: one kernel that computes one of two regions.
#include "lib/Target/CPU/Kernels/Control/Control.h"
#include "dialects/NN/NNControl.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/CPU/Kernels/Control/ControlRegion.h"
#include "runtime/include/sprig/rt/kernel.h"

using namespace mlir;
using namespace sprig;

namespace {
class CondEmitter : public KernelEmitter {
public:
  StringRef name() const override { return "cond"; }
  bool matches(kernel::DispatchOp dispatch) const override { return isa_and_present<ir::CondOp>(controlIn(dispatch)); }

  KernelPlan plan(kernel::DispatchOp dispatch) const override {
    auto cond = cast<ir::CondOp>(controlIn(dispatch));
    KernelPlan plan;
    plan.tiles = 1;
    for (Block *block : {&cond.getThen(), &cond.getElse()})
      plan.scratchBytes = std::max(plan.scratchBytes, placesOf(dispatch, cond, *block).end);
    return plan;
  }

  LogicalResult emit(kernel::DispatchOp dispatch, KernelBuilder &k) const override {
    auto cond = cast<ir::CondOp>(controlIn(dispatch));
    auto bufferOf = [&](Value operand) { return k.operandBuffer(cast<BlockArgument>(operand)); };
    SmallVector<Value> inputs = llvm::map_to_vector(cond.getInputs(), bufferOf);
    Value flag = loadFlag(k, bufferOf(cond.getPredicate()));
    auto choice = scf::IfOp::create(k.b, k.loc, TypeRange{k.b.getI32Type()}, flag, /*withElseRegion=*/true);
    int32_t number = 1; // the cond itself is 0
    for (auto [block, into] : {std::pair(&cond.getThen(), choice.thenBlock()), {&cond.getElse(), choice.elseBlock()}}) {
      OpBuilder::InsertionGuard guard(k.b);
      k.b.setInsertionPointToStart(into);
      RegionPlaces places = placesOf(dispatch, cond, *block);
      ControlRegion region(k, *block, inputs, places, number);
      number = region.nextOperation();
      auto direct = directResults(dispatch, cond, *block);
      for (auto [value, result] : direct) region.place(value, k.resultBuffer(result));
      FailureOr<Value> code = region.emit();
      if (failed(code)) return failure();
      for (auto [i, value] : llvm::enumerate(block->getTerminator()->getOperands())) {
        std::optional<unsigned> result = positionInDispatch(dispatch, cond.getResult(i));
        if (!result || (direct.contains(value) && direct.lookup(value) == *result)) continue;
        copyBuffer(k, region.bufferOf(value), k.resultBuffer(*result));
      }
      scf::YieldOp::create(k.b, k.loc, *code);
    }
    // Its own end: the code comes from the parts.
    func::ReturnOp::create(k.b, k.loc, choice.getResult(0));
    return success();
  }

private:
  /// Results of parts that are written where the kernel's results lie, by the position there.
  static llvm::MapVector<Value, unsigned> directResults(kernel::DispatchOp dispatch, ir::CondOp cond, Block &block) {
    llvm::MapVector<Value, unsigned> direct;
    for (auto [i, value] : llvm::enumerate(block.getTerminator()->getOperands()))
      if (auto result = positionInDispatch(dispatch, cond.getResult(i)))
        if (isa_and_present<kernel::DispatchOp>(value.getDefiningOp())) direct.try_emplace(value, *result);
    return direct;
  }

  static RegionPlaces placesOf(kernel::DispatchOp dispatch, ir::CondOp cond, Block &block) {
    llvm::DenseSet<Value> elsewhere;
    for (auto [value, result] : directResults(dispatch, cond, block)) elsewhere.insert(value);
    return RegionPlaces(block, elsewhere, partScratch(cond));
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::createCondEmitter() { return std::make_unique<CondEmitter>(); }
