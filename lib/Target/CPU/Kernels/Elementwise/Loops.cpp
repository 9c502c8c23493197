// Elementwise operations, reductions over shared axes, and what reads or feeds them (views, pools, gathers), as loops
// of 16 lanes: neighbours of a row where the innermost dimension is reduced, else rows side by side.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "lib/Target/CPU/Kernels/Elementwise/LoopNest.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
struct LoopEmitter : KernelEmitter {
  StringRef name() const override { return "loops"; }
  bool matches(kernel::DispatchOp dispatch) const override { return LoopGroup::analyze(dispatch).has_value(); }
  KernelPlan plan(kernel::DispatchOp dispatch) const override {
    LoopGroup group = *LoopGroup::analyze(dispatch);
    KernelPlan plan = group.plan();
    if (plan.tiles) plan.ranges = group.tileRanges();
    return plan;
  }
  bool mayOverwrite(kernel::DispatchOp dispatch, unsigned operand, unsigned result) const override {
    return LoopGroup::analyze(dispatch)->mayOverwrite(result);
  }
  LogicalResult emit(kernel::DispatchOp dispatch, KernelBuilder &kernel) const override {
    LoopGroup group = *LoopGroup::analyze(dispatch);
    if (group.plan().tiles > 0) LoopNest(kernel, group).emit();
    return success();
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createLoopEmitter() { return std::make_unique<LoopEmitter>(); }
