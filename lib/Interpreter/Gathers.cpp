// Gathers and scatters. An index counts from the end when negative; one out of range is an error.
#include "lib/Interpreter/Reduction.h"
#include "dialects/NN/NNShapeOps.h"
#include <optional>

namespace sprig::interp {
namespace {

// `index` in [0, size), or -1 with the evaluation's error set.
int64_t checkedIndex(Evaluation &e, int64_t index, int64_t size) {
  if (index >= -size && index < size) return index < 0 ? index + size : index;
  if (e.error.empty())
    (void)e.fail("index " + llvm::Twine(index) + " is out of range for a dimension of size " + llvm::Twine(size));
  return -1;
}

// Copies `blocks` runs of `width` elements, run b from offset from(b).
template <typename From> mlir::LogicalResult giveBlocks(Evaluation &e, int64_t blocks, int64_t width, From from) {
  return giveLike(e.operands[0], e, [&]<typename T>(std::vector<T> &result) {
    std::optional<Elements<T>> in;
    if (!isSmallPart(e.operands[0], blocks * width)) in = e.operands[0].elements<T>();
    for (int64_t b = 0; b < blocks; ++b) {
      int64_t offset = from(b);
      if (offset < 0) return;
      if (!in) e.operands[0].load(offset, width, result.data() + b * width);
      for (int64_t i = 0; in && i < width; ++i) result[b * width + i] = (*in)[offset + i];
    }
  });
}

mlir::LogicalResult evaluateGather(ir::GatherOp op, Evaluation &e) {
  llvm::ArrayRef<int64_t> shape = e.operands[0].shape();
  int64_t axis = fromFront(op.getAxis(), shape.size()), size = shape[axis], picks = e.operands[1].count();
  int64_t width = product(shape.drop_front(axis + 1)), outer = product(shape.take_front(axis));
  Elements<int64_t> indices = e.operands[1].integers();
  if (e.resultType().getNumElements() == 0) width = 0;
  return giveBlocks(e, outer * picks, width, [&](int64_t block) {
    int64_t index = checkedIndex(e, indices[block % picks], size);
    return index < 0 ? -1 : (block / picks * size + index) * width;
  });
}

// Calls body(i, at) with each element i of operand 1, which are indices along an axis of operand 0, and the place in
// that operand that it names.
template <typename F> void forElementsNamed(Evaluation &e, int64_t givenAxis, const F &body) {
  llvm::ArrayRef<int64_t> shape = e.operands[0].shape();
  int64_t axis = fromFront(givenAxis, shape.size());
  Strides strides = rowMajorStrides(shape);
  int64_t along = std::exchange(strides[axis], 0);
  Elements<int64_t> indices = e.operands[1].integers();
  walk<1>(e.operands[1].shape(), {strides}, [&](int64_t i, const std::array<int64_t, 1> &at) {
    int64_t index = checkedIndex(e, indices[i], shape[axis]);
    if (index >= 0) body(i, at[0] + index * along);
  });
}

mlir::LogicalResult evaluateGatherElements(ir::GatherElementsOp op, Evaluation &e) {
  return giveLike(e.operands[0], e, [&]<typename T>(std::vector<T> &result) {
    Elements<T> in = e.operands[0].elements<T>();
    forElementsNamed(e, op.getAxis(), [&](int64_t i, int64_t at) { result[i] = in[at]; });
  });
}

// The offset that tuple `tuple` of `length` indices names in a tensor of `shape` after its `batchDims`, or -1.
int64_t tupleOffset(Evaluation &e, const Elements<int64_t> &indices, int64_t tuple, int64_t length,
                    llvm::ArrayRef<int64_t> shape, int64_t batchDims) {
  Strides strides = rowMajorStrides(shape);
  int64_t offset = 0;
  for (int64_t j = 0; j < length; ++j) {
    int64_t index = checkedIndex(e, indices[tuple * length + j], shape[batchDims + j]);
    if (index < 0) return -1;
    offset += index * strides[batchDims + j];
  }
  return offset;
}

mlir::LogicalResult evaluateGatherNd(ir::GatherNdOp op, Evaluation &e) {
  llvm::ArrayRef<int64_t> shape = e.operands[0].shape(), indexShape = e.operands[1].shape();
  int64_t batchDims = op.getBatchDims(), length = indexShape.back();
  int64_t tuples = product(indexShape.drop_back()), batches = product(shape.take_front(batchDims));
  int64_t width = product(shape.drop_front(batchDims + length)), batchSize = product(shape.drop_front(batchDims));
  Elements<int64_t> indices = e.operands[1].integers();
  if (e.resultType().getNumElements() == 0) width = 0;
  return giveBlocks(e, tuples, width, [&](int64_t tuple) {
    int64_t offset = tupleOffset(e, indices, tuple, length, shape, batchDims);
    return offset < 0 ? -1 : tuple / (tuples / batches) * batchSize + offset;
  });
}

// The value that an element gets.
template <typename T> T combine(ir::ScatterKind kind, T old, T update, mlir::Type type) {
  switch (kind) {
  case ir::ScatterKind::none: return update;
  case ir::ScatterKind::add: return reduceStep(ir::ReduceKind::sum, type, old, update);
  case ir::ScatterKind::mul: return reduceStep(ir::ReduceKind::prod, type, old, update);
  case ir::ScatterKind::max: return reduceStep(ir::ReduceKind::max, type, old, update);
  case ir::ScatterKind::min: return reduceStep(ir::ReduceKind::min, type, old, update);
  }
  return update;
}

mlir::LogicalResult evaluateScatterElements(ir::ScatterElementsOp op, Evaluation &e) {
  return giveLike(e.operands[0], e, [&]<typename T>(std::vector<T> &result) {
    Elements<T> updates = e.operands[2].elements<T>();
    e.operands[0].load(0, result.size(), result.data());
    forElementsNamed(e, op.getAxis(), [&](int64_t i, int64_t at) {
      result[at] = combine(op.getKind(), result[at], updates[i], e.operands[0].elementType());
    });
  });
}

mlir::LogicalResult evaluateScatterNd(ir::ScatterNdOp op, Evaluation &e) {
  llvm::ArrayRef<int64_t> shape = e.operands[0].shape(), indexShape = e.operands[1].shape();
  int64_t length = indexShape.back(), tuples = product(indexShape.drop_back());
  int64_t width = product(shape.drop_front(length));
  Elements<int64_t> indices = e.operands[1].integers();
  return giveLike(e.operands[0], e, [&]<typename T>(std::vector<T> &result) {
    Elements<T> updates = e.operands[2].elements<T>();
    e.operands[0].load(0, result.size(), result.data());
    for (int64_t tuple = 0; tuple < tuples && width > 0; ++tuple) {
      int64_t offset = tupleOffset(e, indices, tuple, length, shape, 0);
      if (offset < 0) return;
      for (int64_t i = 0; i < width; ++i)
        result[offset + i] =
            combine(op.getKind(), result[offset + i], updates[tuple * width + i], e.operands[0].elementType());
    }
  });
}

} // namespace

void addGathers(EvaluatorTable &table) {
  table.add(evaluateGather, evaluateGatherElements, evaluateGatherNd, evaluateScatterElements, evaluateScatterNd);
}

} // namespace sprig::interp
