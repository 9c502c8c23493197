// nn.scatter_elements and nn.scatter_nd: a thread copies what only it writes, then takes the updates in ascending
// order: several may meet in one element.
#include "lib/Target/CUDA/Kernels/Slices/SliceEmitter.h"
#include "lib/Target/Kernels/Slices.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

static void copyElement(GpuBuilder &k, Value from, Value to, Value at) {
  memref::StoreOp::create(k.b, k.loc, memref::LoadOp::create(k.b, k.loc, from, at), to, at);
}

/// What an update leaves at `target`.
static void update(GpuBuilder &k, ir::ScatterKind kind, Type elementType, Value updates, Value source, Value to,
                   Value target) {
  Value old = k.load(to, target, elementType), next = k.load(updates, source, elementType);
  k.store(scatterInto(k, kind, elementType, old, next), to, target, elementType);
}

namespace {
// Updates of one element have the same position beside the axis: a thread has a slice.
struct ScatterElementsEmitter : SliceEmitter<ir::ScatterElementsOp> {
  int64_t items(ir::ScatterElementsOp op) const override {
    AxisView view(shapeOf(op.getOperand()), op.getAxis());
    return view.outer * view.inner;
  }
  void emitItem(ir::ScatterElementsOp op, GpuBuilder &k, Value item) const override {
    ArrayRef<int64_t> sizes = shapeOf(op.getOperand()), updateSizes = shapeOf(op.getUpdates());
    AxisView view(sizes, op.getAxis());
    Type elementType = elementOf(op.getOperand());
    Value from = k.flatOperand(op.getOperand()), indices = k.flatOperand(op.getIndices());
    Value updates = k.flatOperand(op.getUpdates()), to = k.flat(k.resultBuffer(0));
    Value base = k.add(k.mul(k.div(item, view.inner), view.length * view.inner), k.rem(item, view.inner));
    auto place = [&](Value i) { return k.add(base, k.mul(i, view.inner)); };
    k.loop(k.index(0), k.index(view.length), 1, [&](Value i) { copyElement(k, from, to, place(i)); });

    // The updates may be fewer beside the axis, too.
    SmallVector<int64_t> beside(sizes);
    beside[op.getAxis()] = 1;
    SmallVector<Value> position = k.delinearize(item, beside);
    Value isUpdated = arith::ConstantIntOp::create(k.b, k.loc, 1, 1);
    for (auto [d, index] : llvm::enumerate(position)) {
      if (d == static_cast<size_t>(op.getAxis()) || updateSizes[d] == sizes[d]) continue;
      Value here = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::ult, index, k.index(updateSizes[d]));
      isUpdated = arith::AndIOp::create(k.b, k.loc, isUpdated, here);
    }
    k.ifThen(isUpdated, [&] {
      k.loop(k.index(0), k.index(updateSizes[op.getAxis()]), 1, [&](Value i) {
        position[op.getAxis()] = i;
        Value source = k.linearize(position, updateSizes);
        Value index = checkedIndex(k, op, memref::LoadOp::create(k.b, k.loc, indices, source), view.length);
        if (view.length) update(k, op.getKind(), elementType, updates, source, to, place(index));
      });
    });
  }
};

// An update replaces a slice of elements, of which a thread has the same one of all slices.
struct ScatterNdEmitter : SliceEmitter<ir::ScatterNdOp> {
  // Indices are checked even where no element is behind them.
  int64_t items(ir::ScatterNdOp op) const override { return std::max<int64_t>(sliceOf(op), 1); }
  void emitItem(ir::ScatterNdOp op, GpuBuilder &k, Value item) const override {
    ArrayRef<int64_t> sizes = shapeOf(op.getOperand()), indexSizes = shapeOf(op.getIndices());
    Type elementType = elementOf(op.getOperand());
    int64_t depth = indexSizes.back(), slice = sliceOf(op), slices = 1, tuples = 1;
    for (int64_t size : sizes.take_front(depth)) slices *= size;
    for (int64_t size : indexSizes.drop_back()) tuples *= size;
    bool isEmpty = countOf(op.getOperand()) == 0;
    Value from = k.flatOperand(op.getOperand()), indices = k.flatOperand(op.getIndices());
    Value updates = k.flatOperand(op.getUpdates()), to = k.flat(k.resultBuffer(0));
    if (!isEmpty)
      k.loop(k.index(0), k.index(slices), 1, [&](Value i) { copyElement(k, from, to, k.add(k.mul(i, slice), item)); });
    k.loop(k.index(0), k.index(tuples), 1, [&](Value tuple) {
      Value target = k.index(0);
      for (int64_t d = 0; d < depth; ++d) {
        Value index = memref::LoadOp::create(k.b, k.loc, indices, k.add(k.mul(tuple, depth), d));
        target = k.add(k.mul(target, sizes[d]), checkedIndex(k, op, index, sizes[d]));
      }
      if (isEmpty) return;
      update(k, op.getKind(), elementType, updates, k.add(k.mul(tuple, slice), item), to,
             k.add(k.mul(target, slice), item));
    });
  }

private:
  static int64_t sliceOf(ir::ScatterNdOp op) {
    int64_t slice = 1;
    for (int64_t size : shapeOf(op.getOperand()).drop_front(shapeOf(op.getIndices()).back())) slice *= size;
    return slice;
  }
};
} // namespace

std::unique_ptr<GpuEmitter> sprig::cuda::createGpuScatterElementsEmitter() {
  return std::make_unique<ScatterElementsEmitter>();
}
std::unique_ptr<GpuEmitter> sprig::cuda::createGpuScatterNdEmitter() { return std::make_unique<ScatterNdEmitter>(); }
