// nn.arg_reduce and nn.arg_max_pool: a thread a result.
#include "lib/Target/CUDA/Kernels/Elements/GpuEvaluator.h"
#include "lib/Target/CUDA/Kernels/Slices/SliceEmitter.h"
#include "lib/Target/Kernels/Slices.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

namespace {
struct ArgReduceEmitter : SliceEmitter<ir::ArgReduceOp> {
  bool matches(kernel::DispatchOp dispatch) const override {
    auto op = singleOp<ir::ArgReduceOp>(dispatch);
    return op && shapeOf(op.getOperand())[op.getAxis()] > 0;
  }
  int64_t items(ir::ArgReduceOp op) const override { return countOf(op.getResult()); }
  void emitItem(ir::ArgReduceOp op, GpuBuilder &k, Value item) const override {
    AxisView view(shapeOf(op.getOperand()), op.getAxis());
    Type elementType = elementOf(op.getOperand()), i64 = k.b.getI64Type();
    Value from = k.flatOperand(op.getOperand());
    Value base = k.add(k.mul(k.div(item, view.inner), view.length * view.inner), k.rem(item, view.inner));
    SmallVector<Value> start{k.load(from, base, elementType), arith::ConstantIntOp::create(k.b, k.loc, 0, 64)};
    Value best = k.loop(k.index(1), k.index(view.length), 1, start, [&](Value i, ValueRange carried) {
      Value next = k.load(from, k.add(base, k.mul(i, view.inner)), elementType);
      Value index = arith::IndexCastOp::create(k.b, k.loc, i64, i), better = replacesBest(k, op, next, carried[0]);
      return SmallVector<Value>{arith::SelectOp::create(k.b, k.loc, better, next, carried[0]),
                                arith::SelectOp::create(k.b, k.loc, better, index, carried[1])};
    })[1];
    memref::StoreOp::create(k.b, k.loc, best, k.flat(k.resultBuffer(0)), item);
  }
};

struct ArgMaxPoolEmitter : SliceEmitter<ir::ArgMaxPoolOp> {
  int64_t items(ir::ArgMaxPoolOp op) const override { return countOf(op.getResult()); }
  void emitItem(ir::ArgMaxPoolOp op, GpuBuilder &k, Value item) const override {
    int64_t outputs = AxisView(shapeOf(op.getResult()), /*axis=*/1).inner;
    GpuEvaluator evaluator(k);
    Value best =
        firstMaximum(evaluator, op, k.flatOperand(op.getOperand()), k.div(item, outputs), k.rem(item, outputs));
    memref::StoreOp::create(k.b, k.loc, best, k.flat(k.resultBuffer(0)), item);
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::cuda::createGpuArgReduceEmitter() { return std::make_unique<ArgReduceEmitter>(); }
std::unique_ptr<GpuEmitter> sprig::cuda::createGpuArgMaxPoolEmitter() { return std::make_unique<ArgMaxPoolEmitter>(); }
