// nn.arg_max_pool: the flat index of each window's first maximum; a NaN counts as one.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/NN/NNReduction.h"
#include "lib/Target/Kernels/Evaluator.h"
#include "lib/Target/CPU/Kernels/Elementwise/SingleOp.h"
#include "lib/Target/Kernels/Slices.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
struct ArgMaxPoolEmitter : SingleOpEmitter<ir::ArgMaxPoolOp> {
  KernelPlan planOf(kernel::DispatchOp dispatch, ir::ArgMaxPoolOp op) const override {
    bool isEmpty = op.getResult().getType().getNumElements() == 0;
    return isEmpty ? KernelPlan() : planOfSlices(dispatch, AxisView(shapeOf(op.getOperand()), /*axis=*/2));
  }
  void emitOp(KernelBuilder &k, ir::ArgMaxPoolOp op) const override {
    ArrayRef<int64_t> outputs = shapeOf(op.getResult());
    Evaluator evaluator(k, /*lanes=*/1);
    Value from = k.flatOperand(op.getOperand()), to = k.flat(k.resultBuffer(0));
    int64_t outputCount = AxisView(outputs, /*axis=*/1).inner;
    k.forTiles([&](Value plane) {
      k.loop(k.index(0), k.index(outputCount), 1, [&](Value output) {
        Value at = k.add(k.mul(plane, outputCount), output);
        memref::StoreOp::create(k.b, k.loc, firstMaximum(evaluator, op, from, plane, output), to, at);
      });
    });
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createArgMaxPoolEmitter() { return std::make_unique<ArgMaxPoolEmitter>(); }
