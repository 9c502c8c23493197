// nn.concat: a thread an element of the result, from the operand that has it.
#include "lib/Target/CUDA/Kernels/Slices/SliceEmitter.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Target/CUDA/Kernels/KernelEmitter.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

namespace {
struct ConcatEmitter : SliceEmitter<ir::ConcatOp> {
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
      Value element = memref::LoadOp::create(k.b, k.loc, k.flatOperand(operandValue), at);
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

void sprig::cuda::splitConcatsForCuda(Block &block, llvm::function_ref<bool(Operation *)> isHere) {
  constexpr size_t kMostOperands = 128;
  for (auto op : llvm::make_early_inc_range(block.getOps<ir::ConcatOp>())) {
    if (!isHere(op)) continue;
    OpBuilder b(op);
    while (op.getNumOperands() > kMostOperands) {
      SmallVector<Value> operands(op.getOperands()), joined;
      for (ArrayRef<Value> rest = operands; !rest.empty();) {
        ArrayRef<Value> few = rest.take_front(kMostOperands);
        rest = rest.drop_front(few.size());
        if (few.size() == 1) {
          joined.push_back(few.front());
          continue;
        }
        auto part = ir::ConcatOp::create(b, op.getLoc(), few, op.getAxis());
        kernel::setDevice(part, kernel::deviceOf(op));
        joined.push_back(part);
      }
      op.getOperandsMutable().assign(joined);
    }
  }
}

std::unique_ptr<GpuEmitter> sprig::cuda::createGpuConcatEmitter() { return std::make_unique<ConcatEmitter>(); }
