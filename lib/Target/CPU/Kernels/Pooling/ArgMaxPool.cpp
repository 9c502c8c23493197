// nn.arg_max_pool: the flat index of each window's first maximum; a NaN counts as one.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/CPU/Kernels/Elementwise/Evaluator.h"
#include "lib/Target/CPU/Kernels/Elementwise/SingleOp.h"

using namespace mlir;
using namespace sprig;

namespace {
class ArgMaxPoolEmitter : public KernelEmitter {
public:
  StringRef name() const override { return "arg_max_pool"; }
  bool matches(kernel::DispatchOp dispatch) const override { return singleOp<ir::ArgMaxPoolOp>(dispatch) != nullptr; }
  KernelPlan plan(kernel::DispatchOp dispatch) const override {
    auto op = singleOp<ir::ArgMaxPoolOp>(dispatch);
    bool isEmpty = op.getResult().getType().getNumElements() == 0;
    return isEmpty ? KernelPlan() : planOfSlices(dispatch, AxisView(shapeOf(op.getOperand()), /*axis=*/2));
  }
  LogicalResult emit(kernel::DispatchOp dispatch, KernelBuilder &k) const override {
    auto op = singleOp<ir::ArgMaxPoolOp>(dispatch);
    ArrayRef<int64_t> sizes = shapeOf(op.getOperand()), outputs = shapeOf(op.getResult());
    Type elementType = elementTypeOf(op.getOperand()), i64 = k.b.getI64Type();
    size_t dims = sizes.size() - 2;
    Window window{op.getWindow(),  op.getStrides(),     op.getDilations(),
                  op.getPadding(), sizes.drop_front(2), outputs.drop_front(2)};
    LoopGroup scalars;
    scalars.dispatch = dispatch;
    scalars.lanes = 1;
    Evaluator evaluator(k, scalars);
    Value from = flatOperand(k, op.getOperand()), to = k.flat(k.resultBuffer(0));
    int64_t outputCount = 1, inputCount = 1;
    for (size_t d = 0; d < dims; ++d) outputCount *= window.outputs[d], inputCount *= window.inputs[d];
    k.forTiles([&](Value plane) {
      Value base = k.mul(plane, inputCount);
      k.loop(k.index(0), k.index(outputCount), 1, [&](Value output) {
        Position place;
        for (Value index : k.delinearize(output, window.outputs)) place.push_back({index, 0});
        Value none = arith::ConstantIntOp::create(k.b, k.loc, -1, 64);
        Value start = k.zero(computeType(elementType));
        SmallVector<Value> best = evaluator.windowLoop(
            window, place, ValueRange{start, none},
            [&](ValueRange, ValueRange places, ValueRange carried) -> SmallVector<Value> {
              Value offset = k.add(base, k.linearize(places, window.inputs));
              Value element = k.load(from, offset, elementType);
              Value position = offset;
              if (op.getColumnMajor()) {
                position = k.index(0);
                for (size_t d = dims; d-- > 0;) position = k.add(k.mul(position, window.inputs[d]), places[d]);
              }
              Value index = arith::IndexCastOp::create(k.b, k.loc, i64, position);
              Value isFirst = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::slt, carried[1],
                                                    arith::ConstantIntOp::create(k.b, k.loc, 0, 64));
              Value better = arith::OrIOp::create(k.b, k.loc, isFirst,
                                                  precedes(k, elementType, /*largest=*/true, element, carried[0]));
              return {arith::SelectOp::create(k.b, k.loc, better, element, carried[0]),
                      arith::SelectOp::create(k.b, k.loc, better, index, carried[1])};
            });
        memref::StoreOp::create(k.b, k.loc, best[1], to, k.add(k.mul(plane, outputCount), output));
      });
    });
    return success();
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::createArgMaxPoolEmitter() { return std::make_unique<ArgMaxPoolEmitter>(); }
