// nn.cumulative: one chain along the axis, with lanes across the dimensions after it.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/CPU/Kernels/Elementwise/SingleOp.h"
#include "lib/Target/Kernels/Slices.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
class CumulativeEmitter : public KernelEmitter {
public:
  StringRef name() const override { return "cumulative"; }
  bool matches(kernel::DispatchOp dispatch) const override { return singleOp<ir::CumulativeOp>(dispatch) != nullptr; }
  KernelPlan plan(kernel::DispatchOp dispatch) const override {
    auto op = singleOp<ir::CumulativeOp>(dispatch);
    AxisView view(shapeOf(op.getOperand()), op.getAxis());
    return view.length == 0 ? KernelPlan() : planOfSlices(dispatch, view);
  }
  LogicalResult emit(kernel::DispatchOp dispatch, KernelBuilder &k) const override {
    auto op = singleOp<ir::CumulativeOp>(dispatch);
    AxisView view(shapeOf(op.getOperand()), op.getAxis());
    Value from = flatOperand(k, op.getOperand()), to = k.flat(k.resultBuffer(0));
    auto chain = [&](Value base, Value mask, int64_t lanes) { accumulate(k, op, from, to, base, mask, lanes); };
    k.forTiles([&](Value outer) {
      Value base = k.mul(outer, view.length * view.inner);
      if (view.inner == 1)
        chain(base, Value(), 1);
      else
        forVectors(k, view.inner, [&](Value offset, Value mask) { chain(k.add(base, offset), mask, kLanes); });
    });
    return success();
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createCumulativeEmitter() { return std::make_unique<CumulativeEmitter>(); }
