// nn.concat: a thread an element of the result, from the operand that has it.
#include "lib/Target/CUDA/Kernels/Slices/SliceEmitter.h"
#include "dialects/NN/NNShapeOps.h"

using namespace mlir;
using namespace sprig;

namespace {
class ConcatEmitter : public SliceEmitter<ir::ConcatOp> {
public:
  StringRef name() const override { return "concat"; }

protected:
  int64_t items(ir::ConcatOp op) const override { return countOf(op.getResult()); }
  void emitItem(ir::ConcatOp op, GpuBuilder &k, Value item) const override {
    AxisView view(shapeOf(op.getResult()), op.getAxis());
    int64_t row = view.length * view.inner;
    copyFrom(op, 0, 0, k, k.div(item, row), k.rem(item, row), item);
  }

private:
  // From the operand `index` or a later one; `begin` is where that one begins in a row of the result.
  void copyFrom(ir::ConcatOp op, unsigned index, int64_t begin, GpuBuilder &k, Value outer, Value place,
                Value item) const {
    Value operandValue = op->getOperand(index);
    AxisView view(shapeOf(operandValue), op.getAxis());
    int64_t row = view.length * view.inner;
    auto copy = [&] {
      Value at = k.add(k.mul(outer, row), k.sub(place, k.index(begin)));
      Value element = memref::LoadOp::create(k.b, k.loc, operand(k, operandValue), at);
      memref::StoreOp::create(k.b, k.loc, element, k.flat(k.resultBuffer(0)), item);
    };
    if (index + 1 == op->getNumOperands()) return row ? copy() : void();
    auto next = [&] { copyFrom(op, index + 1, begin + row, k, outer, place, item); };
    if (row == 0) return next();
    Value isHere = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ult, place, k.index(begin + row));
    k.ifThen(isHere, copy, next);
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::createGpuConcatEmitter() { return std::make_unique<ConcatEmitter>(); }
