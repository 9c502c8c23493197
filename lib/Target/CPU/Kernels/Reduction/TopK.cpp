// nn.top_k: a tile is a slice along the axis.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/NN/NNReduction.h"
#include "lib/Target/CPU/Kernels/Elementwise/SingleOp.h"
#include "lib/Target/Kernels/Slices.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
struct TopKEmitter : SingleOpEmitter<ir::TopKOp> {
  KernelPlan planOf(kernel::DispatchOp dispatch, ir::TopKOp op) const override {
    AxisView view(shapeOf(op.getOperand()), op.getAxis());
    KernelPlan plan;
    plan.tiles = op.getK() == 0 ? 0 : view.outer * view.inner;
    if (plan.tiles == 0) return plan;
    auto columns = [&](int64_t length) -> SmallVector<TileStep> {
      return {{length * view.inner, 0, length * view.inner}, {1, 0, (length - 1) * view.inner + 1}};
    };
    TileRanges ranges(dispatch, {view.outer, view.inner});
    ranges.operands([&](OpOperand &) { return columns(view.length); });
    for (unsigned result : {0, 1}) ranges.result(result, columns(op.getK()));
    plan.ranges = ranges.take();
    return plan;
  }
  void emitOp(KernelBuilder &k, ir::TopKOp op) const override {
    Value from = k.flatOperand(op.getOperand()), values = k.flat(k.resultBuffer(0)),
          indices = k.flat(k.resultBuffer(1));
    k.forTiles([&](Value tile) { keepBest(k, op, from, values, indices, tile); });
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createTopKEmitter() { return std::make_unique<TopKEmitter>(); }
