// nn.cumulative: one chain along the axis, with lanes across the dimensions after it.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/NN/NNReduction.h"
#include "lib/Target/CPU/Kernels/Elementwise/SingleOp.h"
#include "lib/Target/Kernels/Slices.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
struct CumulativeEmitter : SingleOpEmitter<ir::CumulativeOp> {
  KernelPlan planOf(kernel::DispatchOp dispatch, ir::CumulativeOp op) const override {
    AxisView view(shapeOf(op.getOperand()), op.getAxis());
    return view.length == 0 ? KernelPlan() : planOfSlices(dispatch, view);
  }
  void emitOp(KernelBuilder &k, ir::CumulativeOp op) const override {
    AxisView view(shapeOf(op.getOperand()), op.getAxis());
    Value from = k.flatOperand(op.getOperand()), to = k.flat(k.resultBuffer(0));
    auto chain = [&](Value base, Value mask, int64_t lanes) { accumulate(k, op, from, to, base, mask, lanes); };
    k.forTiles([&](Value outer) {
      Value base = k.mul(outer, view.length * view.inner);
      if (view.inner == 1)
        chain(base, Value(), 1);
      else
        forVectors(k, view.inner, [&](Value offset, Value mask) { chain(k.add(base, offset), mask, kLanes); });
    });
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createCumulativeEmitter() { return std::make_unique<CumulativeEmitter>(); }
