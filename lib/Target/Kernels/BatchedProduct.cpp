#include "lib/Target/Kernels/BatchedProduct.h"

using namespace mlir;
using namespace sprig;

static SmallVector<int64_t> batchStrides(ArrayRef<int64_t> shape, size_t batchRank) {
  SmallVector<int64_t> strides(batchRank, 0);
  int64_t stride = shape.end()[-2] * shape.back(), missing = batchRank + 2 - shape.size();
  for (int64_t d = static_cast<int64_t>(shape.size()) - 3; d >= 0; --d) {
    if (shape[d] != 1) strides[d + missing] = stride;
    stride *= shape[d];
  }
  return strides;
}

BatchedProduct::BatchedProduct(ir::MatmulOp op)
    : transposedLeft(op.getTransposeLhs()), transposedRight(op.getTransposeRhs()) {
  auto left = cast<RankedTensorType>(op.getLhs().getType()), right = cast<RankedTensorType>(op.getRhs().getType());
  ArrayRef<int64_t> result = cast<RankedTensorType>(op.getResult().getType()).getShape();
  batch.assign(result.begin(), result.end() - 2);
  rows = result.end()[-2];
  columns = result.back();
  depth = left.getShape().end()[transposedLeft ? -2 : -1];
  leftStrides = batchStrides(left.getShape(), batch.size());
  rightStrides = batchStrides(right.getShape(), batch.size());
  bool sharesRight = llvm::all_of(rightStrides, [](int64_t stride) { return stride == 0; });
  if (sharesRight && !transposedLeft && left.getNumElements() == matrices() * rows * depth) {
    rows *= matrices();
    for (SmallVector<int64_t> *list : {&batch, &leftStrides, &rightStrides}) list->clear();
  }
}
