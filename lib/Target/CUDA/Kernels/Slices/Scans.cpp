// nn.cumulative and nn.top_k: a thread a slice along the axis.
#include "lib/Target/CUDA/Kernels/Slices/SliceEmitter.h"
#include "lib/Target/Kernels/Slices.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

namespace {
struct CumulativeEmitter : SliceEmitter<ir::CumulativeOp> {
  int64_t items(ir::CumulativeOp op) const override {
    AxisView view(shapeOf(op.getOperand()), op.getAxis());
    return view.length == 0 ? 0 : view.outer * view.inner;
  }
  void emitItem(ir::CumulativeOp op, GpuBuilder &k, Value item) const override {
    AxisView view(shapeOf(op.getOperand()), op.getAxis());
    Value base = k.add(k.mul(k.div(item, view.inner), view.length * view.inner), k.rem(item, view.inner));
    accumulate(k, op, k.flatOperand(op.getOperand()), k.flat(k.resultBuffer(0)), base, Value(), /*lanes=*/1);
  }
};

struct TopKEmitter : SliceEmitter<ir::TopKOp> {
  int64_t items(ir::TopKOp op) const override {
    AxisView view(shapeOf(op.getOperand()), op.getAxis());
    return op.getK() == 0 ? 0 : view.outer * view.inner;
  }
  void emitItem(ir::TopKOp op, GpuBuilder &k, Value item) const override {
    keepBest(k, op, k.flatOperand(op.getOperand()), k.flat(k.resultBuffer(0)), k.flat(k.resultBuffer(1)), item);
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::cuda::createGpuCumulativeEmitter() { return std::make_unique<CumulativeEmitter>(); }
std::unique_ptr<GpuEmitter> sprig::cuda::createGpuTopKEmitter() { return std::make_unique<TopKEmitter>(); }
