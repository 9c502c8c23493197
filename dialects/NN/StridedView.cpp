#include "dialects/NN/StridedView.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNShapeOps.h"

using namespace mlir;

namespace sprig::ir {

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

bool keepsOrder(ArrayRef<int64_t> shape, ArrayRef<int64_t> permutation) {
  int64_t last = -1;
  for (int64_t d : permutation) {
    if (shape[d] == 1) continue;
    if (d < last) return false;
    last = d;
  }
  return true;
}

SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t d = static_cast<int64_t>(shape.size()) - 2; d >= 0; --d) strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

// Both shapes are cut into pieces of as many elements; a piece of several old dimensions must be one run in memory.
std::optional<SmallVector<int64_t>> reshapeStrides(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides,
                                                   ArrayRef<int64_t> newShape) {
  SmallVector<int64_t> sizes, steps; // without dimensions of size 1, which have no stride that counts
  for (auto [size, stride] : llvm::zip_equal(shape, strides)) {
    if (size == 0) return std::nullopt;
    if (size == 1) continue;
    sizes.push_back(size);
    steps.push_back(stride);
  }
  SmallVector<int64_t> result(newShape.size(), 0);
  size_t old = 0, next = 0;
  while (old < sizes.size()) {
    size_t oldEnd = old + 1, nextEnd = next;
    int64_t count = sizes[old], newCount = 1;
    while (count != newCount || nextEnd == next) {
      if (newCount < count || nextEnd == next) {
        if (nextEnd == newShape.size()) return std::nullopt;
        newCount *= newShape[nextEnd++];
      } else {
        if (oldEnd == sizes.size()) return std::nullopt;
        count *= sizes[oldEnd++];
      }
    }
    for (size_t d = old; d + 1 < oldEnd; ++d)
      if (steps[d] != steps[d + 1] * sizes[d + 1]) return std::nullopt;
    int64_t stride = steps[oldEnd - 1];
    for (size_t d = nextEnd; d-- > next;) {
      result[d] = stride;
      stride *= newShape[d];
    }
    old = oldEnd;
    next = nextEnd;
  }
  return result;
}

Value onlyOperand(Operation *op) {
  if (!isa<ElementwiseOpInterface>(op) || op->getNumResults() != 1) return {};
  Value only;
  for (Value operand : op->getOperands()) {
    if (splatOf(operand)) continue;
    if (only || typeOf(operand).getShape() != typeOf(op->getResult(0)).getShape()) return {};
    only = operand;
  }
  return only;
}

PointwiseView PointwiseView::of(Value value) {
  PointwiseView view;
  view.root = value;
  view.strides = rowMajorStrides(typeOf(value).getShape());
  return view;
}

/// One more view on top of what is known of its operand; nothing where strides do not say it.
static std::optional<PointwiseView> apply(Operation *op, PointwiseView view) {
  ArrayRef<int64_t> sizes = typeOf(op->getOperand(0)).getShape(), results = typeOf(op->getResult(0)).getShape();
  SmallVector<int64_t> before = view.strides;
  if (isa<ReshapeOp>(op)) {
    auto strides = reshapeStrides(sizes, before, results);
    if (!strides) return std::nullopt;
    view.strides = *strides;
  } else if (auto transpose = dyn_cast<TransposeOp>(op)) {
    for (auto [i, source] : llvm::enumerate(transpose.getPermutation())) view.strides[i] = before[source];
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    for (size_t d = 0; d < before.size(); ++d) {
      view.offset += before[d] * slice.getStarts()[d];
      view.strides[d] = before[d] * slice.getSteps()[d];
    }
  } else {
    size_t added = results.size() - sizes.size();
    view.strides.assign(results.size(), 0);
    for (size_t d = 0; d < sizes.size(); ++d) view.strides[d + added] = sizes[d] == 1 ? 0 : before[d];
  }
  view.ops.push_back(op);
  return view;
}

PointwiseView PointwiseView::through(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op) return of(value);
  if (isa<ReshapeOp, TransposeOp, SliceOp, BroadcastOp>(op)) {
    auto view = apply(op, through(op->getOperand(0)));
    return view ? *view : of(value);
  }
  Value operand = onlyOperand(op);
  // Who reads through a view applies its chain and checks nothing.
  if (!operand || !op->hasOneUse() || isCheckedAtRunTime(op)) return of(value);
  PointwiseView view = through(operand);
  if (view.root == operand || view.chain.size() >= 2) return of(value);
  view.chain.push_back(op);
  for (Value other : op->getOperands())
    if (other != operand && !llvm::is_contained(view.ops, other.getDefiningOp()))
      view.ops.push_back(other.getDefiningOp());
  view.ops.push_back(op);
  return view;
}

std::optional<SmallVector<int64_t>> storedStrides(Value value, ArrayRef<Operation *> views) {
  SmallVector<int64_t> strides = rowMajorStrides(typeOf(views.empty() ? value : views.back()->getResult(0)).getShape());
  for (Operation *op : llvm::reverse(views)) {
    ArrayRef<int64_t> sizes = typeOf(op->getOperand(0)).getShape(), results = typeOf(op->getResult(0)).getShape();
    if (auto transpose = dyn_cast<TransposeOp>(op)) {
      SmallVector<int64_t> before(sizes.size());
      for (auto [i, source] : llvm::enumerate(transpose.getPermutation())) before[source] = strides[i];
      strides = before;
    } else {
      auto before = isa<ReshapeOp>(op) ? reshapeStrides(results, strides, sizes) : std::nullopt;
      if (!before) return std::nullopt;
      strides = *before;
    }
  }
  return strides;
}

} // namespace sprig::ir
