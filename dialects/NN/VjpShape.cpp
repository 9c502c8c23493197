// Vector-Jacobian products of operations that move elements.
#include "dialects/NN/VjpExpression.h"
#include "dialects/NN/NNShapeOps.h"

using namespace mlir;

namespace sprig::ir {

LogicalResult ReshapeOp::buildVjp(VjpExpression &e) {
  if (e.needs(0)) e.give(0, e.reshape(e.g(), getOperand().getType().getShape()));
  return success();
}

LogicalResult BroadcastOp::buildVjp(VjpExpression &e) {
  e.give(0, getOperand(), [&] { return e.g(); });
  return success();
}

static SmallVector<int64_t> inverse(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> result(permutation.size());
  for (auto [i, from] : llvm::enumerate(permutation)) result[from] = i;
  return result;
}

LogicalResult TransposeOp::buildVjp(VjpExpression &e) {
  if (e.needs(0)) e.give(0, e.transpose(e.g(), inverse(getPermutation())));
  return success();
}

/// Zeros between the elements of a dimension, so that element i comes to i * step.
static Value dilate(VjpExpression &e, Value x, int64_t dim, int64_t step) {
  SmallVector<int64_t> shape(VjpExpression::typeOf(x).getShape());
  int64_t size = shape[dim];
  if (step == 1 || size == 0) return x;
  SmallVector<int64_t> split(shape), low(shape.size() + 1, 0), high(shape.size() + 1, 0);
  split.insert(split.begin() + dim + 1, 1);
  high[dim + 1] = step - 1;
  Value padded = e.padZeros(e.reshape(x, split), low, high);
  shape[dim] = size * step;
  padded = e.reshape(padded, shape);
  shape[dim] = (size - 1) * step + 1;
  return e.slice(padded, SmallVector<int64_t>(shape.size(), 0), shape);
}

LogicalResult SliceOp::buildVjp(VjpExpression &e) {
  if (!e.needs(0)) return success();
  auto type = getOperand().getType();
  if (getType().getNumElements() == 0) {
    e.give(0, e.zeros(type));
    return success();
  }
  Value gradient = e.g();
  SmallVector<int64_t> low, high, forwards(getSteps());
  SmallVector<int64_t> starts(type.getRank(), 0), sizes(getSizes());
  bool flips = false;
  for (auto [d, step] : llvm::enumerate(getSteps())) {
    int64_t span = (getSizes()[d] - 1) * std::abs(step), first = step < 0 ? getStarts()[d] - span : getStarts()[d];
    low.push_back(first);
    high.push_back(type.getDimSize(d) - first - span - 1);
    forwards[d] = step < 0 ? -1 : 1;
    if (step < 0) starts[d] = sizes[d] - 1, flips = true;
  }
  if (flips) gradient = SliceOp::create(e.b, e.loc, gradient, starts, sizes, forwards);
  for (auto [d, step] : llvm::enumerate(getSteps())) gradient = dilate(e, gradient, d, std::abs(step));
  e.give(0, e.padZeros(gradient, low, high));
  return success();
}

LogicalResult ConcatOp::buildVjp(VjpExpression &e) {
  SmallVector<int64_t> starts(VjpExpression::typeOf(getResult()).getRank(), 0);
  for (auto [i, operand] : llvm::enumerate(getOperands())) {
    auto shape = VjpExpression::typeOf(operand).getShape();
    if (e.needs(i)) e.give(i, e.slice(e.g(), starts, shape));
    starts[getAxis()] += shape[getAxis()];
  }
  return success();
}

/// Index j of a padded dimension reads this one of the operand.
static int64_t paddedSource(PadMode mode, int64_t at, int64_t size) {
  switch (mode) {
  case PadMode::edge: return std::clamp<int64_t>(at, 0, size - 1);
  case PadMode::wrap: return ((at % size) + size) % size;
  default: // reflect: period 2 (size - 1), without repeating the ends
    if (size == 1) return 0;
    at = std::abs(at) % (2 * (size - 1));
    return at < size ? at : 2 * (size - 1) - at;
  }
}

/// The gradient of one dimension that is padded with its own elements: each gets the sum of its copies.
static Value unpad(VjpExpression &e, Value gradient, PadMode mode, int64_t dim, int64_t low, int64_t size) {
  auto type = VjpExpression::typeOf(gradient);
  int64_t padded = type.getDimSize(dim);
  if (padded == size) return gradient;
  SmallVector<int64_t> column(type.getRank(), 1), shape(type.getShape());
  column[dim] = padded;
  shape[dim] = size;
  SmallVector<int64_t> sources;
  for (int64_t j = 0; j < padded; ++j) sources.push_back(paddedSource(mode, j - low, size));
  auto indexType = RankedTensorType::get(column, e.b.getI64Type());
  Value indices = ConstantOp::create(e.b, e.loc, indexType, DenseElementsAttr::get(indexType, ArrayRef(sources)));
  return ScatterElementsOp::create(e.b, e.loc, ScatterKind::add, e.zeros(type.clone(shape)),
                                   e.broadcast(indices, type.getShape()), gradient, dim);
}

LogicalResult PadOp::buildVjp(VjpExpression &e) {
  auto type = cast<RankedTensorType>(getOperand().getType());
  if (getMode() != PadMode::constant) {
    if (!e.needs(0)) return success();
    Value gradient = e.g();
    for (int64_t d = 0; d < type.getRank(); ++d)
      gradient = unpad(e, gradient, getMode(), d, getLow()[d], type.getDimSize(d));
    e.give(0, gradient);
    return success();
  }
  Value inner = e.slice(e.g(), getLow(), type.getShape());
  if (e.needs(0)) e.give(0, inner);
  if (e.needs(1)) {
    Value sum = e.sub(e.sumOfAll(e.g()), e.sumOfAll(inner));
    e.give(1, e.reshape(sum, VjpExpression::typeOf(getValue()).getShape()));
  }
  return success();
}

// Rows that are picked more than once get the sum: a scatter into zeros, whose picked dimension comes first.
LogicalResult GatherOp::buildVjp(VjpExpression &e) {
  if (!e.needs(0)) return success();
  auto type = cast<RankedTensorType>(getOperand().getType());
  auto indexType = cast<RankedTensorType>(getIndices().getType());
  int64_t axis = getAxis(), count = indexType.getRank(), rank = type.getRank();
  // The result's dimensions: [before axis, indices, after axis] -> [indices, before, after].
  SmallVector<int64_t> toFront, picked{axis}, shape;
  for (int64_t i = 0; i < count; ++i) toFront.push_back(axis + i);
  for (int64_t i = 0; i < axis; ++i) toFront.push_back(i), picked.push_back(i);
  for (int64_t i = axis + 1; i < rank; ++i) toFront.push_back(i - 1 + count), picked.push_back(i);
  for (int64_t d : picked) shape.push_back(type.getDimSize(d));
  Value updates = axis == 0 ? e.g() : e.transpose(e.g(), toFront);
  SmallVector<int64_t> tuples(indexType.getShape());
  tuples.push_back(1);
  Value sum = ScatterNdOp::create(e.b, e.loc, ScatterKind::add, e.zeros(type.clone(shape)),
                                  e.reshape(getIndices(), tuples), updates);
  e.give(0, axis == 0 ? sum : e.transpose(sum, inverse(picked)));
  return success();
}

LogicalResult GatherElementsOp::buildVjp(VjpExpression &e) {
  if (!e.needs(0)) return success();
  e.give(0, ScatterElementsOp::create(e.b, e.loc, ScatterKind::add, e.zeros(getOperand().getType()), getIndices(),
                                      e.g(), getAxis()));
  return success();
}

/// Index tuples that name the batch dimensions, too.
static Value withBatchIndices(VjpExpression &e, Value indices, int64_t batchDims) {
  if (batchDims == 0) return indices;
  auto type = VjpExpression::typeOf(indices);
  SmallVector<int64_t> one(type.getShape());
  one.back() = 1;
  SmallVector<Value> parts;
  for (int64_t d = 0; d < batchDims; ++d) parts.push_back(IotaOp::create(e.b, e.loc, type.clone(one), d));
  parts.push_back(indices);
  return ConcatOp::create(e.b, e.loc, parts, type.getRank() - 1);
}

LogicalResult GatherNdOp::buildVjp(VjpExpression &e) {
  if (!e.needs(0)) return success();
  e.give(0, ScatterNdOp::create(e.b, e.loc, ScatterKind::add, e.zeros(getOperand().getType()),
                                withBatchIndices(e, getIndices(), getBatchDims()), e.g()));
  return success();
}

/// What no expression of primitives gives.
static LogicalResult refuse(Operation *op, ScatterKind kind) {
  return op->emitOpError("has no gradient when it combines by ")
         << stringifyScatterKind(kind) << "; expected none or add";
}

// With kind none an index that comes twice would hide the first update; as in other frameworks, that is not looked for.
LogicalResult ScatterElementsOp::buildVjp(VjpExpression &e) {
  ScatterKind kind = getKind();
  if (kind != ScatterKind::none && kind != ScatterKind::add) return refuse(*this, kind);
  if (e.needs(0))
    e.give(0, kind == ScatterKind::add ? e.g()
                                       : ScatterElementsOp::create(e.b, e.loc, ScatterKind::none, e.g(), getIndices(),
                                                                   e.zeros(getUpdates().getType()), getAxis())
                                             .getResult());
  if (e.needs(2)) e.give(2, GatherElementsOp::create(e.b, e.loc, e.g(), getIndices(), getAxis()));
  return success();
}

LogicalResult ScatterNdOp::buildVjp(VjpExpression &e) {
  ScatterKind kind = getKind();
  if (kind != ScatterKind::none && kind != ScatterKind::add) return refuse(*this, kind);
  if (e.needs(0))
    e.give(0, kind == ScatterKind::add ? e.g()
                                       : ScatterNdOp::create(e.b, e.loc, ScatterKind::none, e.g(), getIndices(),
                                                             e.zeros(getUpdates().getType()))
                                             .getResult());
  if (e.needs(2)) e.give(2, GatherNdOp::create(e.b, e.loc, e.g(), getIndices(), /*batch_dims=*/0));
  return success();
}

} // namespace sprig::ir
