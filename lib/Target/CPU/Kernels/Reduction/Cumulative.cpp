// nn.cumulative: one chain along the axis, with lanes across the dimensions after it.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/CPU/Kernels/Elementwise/SingleOp.h"

using namespace mlir;
using namespace sprig;

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
    Type elementType = elementTypeOf(op.getOperand());
    Value from = flatOperand(k, op.getOperand()), to = k.flat(k.resultBuffer(0));
    auto chain = [&](Value base, Value mask, int64_t lanes) {
      Value start = reductionIdentity(k, op.getKind(), elementType, lanes);
      k.loop(k.index(0), k.index(view.length), 1, start, [&](Value i, ValueRange carried) -> SmallVector<Value> {
        Value along = op.getReverse() ? k.sub(k.index(view.length - 1), i) : i;
        Value offset = k.add(base, k.mul(along, view.inner));
        Value element = lanes > 1 ? k.loadVector(from, offset, elementType, mask) : k.load(from, offset, elementType);
        Value next = reductionStep(k, op.getKind(), elementType, carried[0], element);
        k.store(op.getExclusive() ? carried[0] : next, to, offset, elementType, mask);
        return {next};
      });
    };
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

std::unique_ptr<KernelEmitter> sprig::createCumulativeEmitter() { return std::make_unique<CumulativeEmitter>(); }
