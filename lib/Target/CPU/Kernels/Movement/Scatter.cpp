// nn.scatter_elements and nn.scatter_nd: a copy of the operand, then the updates in ascending order, on one thread:
// several updates may meet in one element.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Target/Kernels/Evaluator.h"
#include "lib/Target/CPU/Kernels/Elementwise/SingleOp.h"
#include "lib/Target/Kernels/Slices.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

static int64_t countOf(Value value) { return cast<RankedTensorType>(value.getType()).getNumElements(); }

namespace {
struct ScatterElementsEmitter : SingleOpEmitter<ir::ScatterElementsOp> {
  KernelPlan planOf(kernel::DispatchOp dispatch, ir::ScatterElementsOp op) const override { return {1}; }
  void emitOp(KernelBuilder &k, ir::ScatterElementsOp op) const override {
    ArrayRef<int64_t> sizes = shapeOf(op.getOperand()), updateSizes = shapeOf(op.getUpdates());
    Type elementType = elementOf(op.getOperand());
    Value from = k.flatOperand(op.getOperand()), indices = k.flatOperand(op.getIndices());
    Value updates = k.flatOperand(op.getUpdates()), to = k.flat(k.resultBuffer(0));
    k.forTiles([&](Value) {
      copyRow(k, from, k.index(0), to, k.index(0), countOf(op.getOperand()));
      if (countOf(op.getOperand()) == 0 && countOf(op.getUpdates()) == 0) return;
      k.loop(k.index(0), k.index(countOf(op.getUpdates())), 1, [&](Value i) {
        SmallVector<Value> position = k.delinearize(i, updateSizes);
        Value index = memref::LoadOp::create(k.b, k.loc, indices, i);
        position[op.getAxis()] = checkedIndex(k, op, index, sizes[op.getAxis()]);
        if (countOf(op.getOperand()) == 0) return;
        Value target = k.linearize(position, sizes);
        Value update = k.load(updates, i, elementType);
        k.store(scatterInto(k, op.getKind(), elementType, k.load(to, target, elementType), update), to, target,
                elementType);
      });
    });
  }
};

struct ScatterNdEmitter : SingleOpEmitter<ir::ScatterNdOp> {
  KernelPlan planOf(kernel::DispatchOp dispatch, ir::ScatterNdOp op) const override { return {1}; }
  void emitOp(KernelBuilder &k, ir::ScatterNdOp op) const override {
    ArrayRef<int64_t> sizes = shapeOf(op.getOperand()), indexSizes = shapeOf(op.getIndices());
    Type elementType = elementOf(op.getOperand());
    Value from = k.flatOperand(op.getOperand()), indices = k.flatOperand(op.getIndices());
    Value updates = k.flatOperand(op.getUpdates()), to = k.flat(k.resultBuffer(0));
    int64_t depth = indexSizes.back(), tuples = 1, slice = 1;
    for (int64_t size : indexSizes.drop_back()) tuples *= size;
    for (int64_t size : sizes.drop_front(depth)) slice *= size;
    k.forTiles([&](Value) {
      copyRow(k, from, k.index(0), to, k.index(0), countOf(op.getOperand()));
      k.loop(k.index(0), k.index(tuples), 1, [&](Value tuple) {
        Value target = k.index(0);
        for (int64_t d = 0; d < depth; ++d) {
          Value index = memref::LoadOp::create(k.b, k.loc, indices, k.add(k.mul(tuple, depth), d));
          target = k.add(k.mul(target, sizes[d]), checkedIndex(k, op, index, sizes[d]));
        }
        if (countOf(op.getOperand()) == 0) return;
        target = k.mul(target, slice);
        Value source = k.mul(tuple, slice);
        if (slice == 1) {
          Value update = k.load(updates, source, elementType);
          k.store(scatterInto(k, op.getKind(), elementType, k.load(to, target, elementType), update), to, target,
                  elementType);
          return;
        }
        forVectors(k, slice, [&](Value offset, Value mask) {
          Value place = k.add(target, offset);
          Value update = k.loadVector(updates, k.add(source, offset), elementType, mask);
          Value old = k.loadVector(to, place, elementType, mask);
          k.store(scatterInto(k, op.getKind(), elementType, old, update), to, place, elementType, mask);
        });
      });
    });
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createScatterElementsEmitter() {
  return std::make_unique<ScatterElementsEmitter>();
}
std::unique_ptr<KernelEmitter> sprig::cpu::createScatterNdEmitter() { return std::make_unique<ScatterNdEmitter>(); }
