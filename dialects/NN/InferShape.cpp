// Result types of operations that move elements.
#include "dialects/NN/Infer.h"
#include "dialects/NN/NNShapeOps.h"

using namespace mlir;

namespace sprig::ir {

LogicalResult TransposeOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand");
  if (failed(operand)) return failure();
  auto permutation = infer.array(op.getPermutationAttr(), "permutation entries", operand->getRank(), "dimensions");
  if (failed(permutation)) return failure();
  SmallVector<bool> seen(operand->getRank());
  SmallVector<int64_t> shape;
  for (int64_t dim : *permutation) {
    if (dim < 0 || dim >= operand->getRank())
      return infer.fail("permutes dimension ", dim, " of ", describe(*operand), " of rank ", operand->getRank());
    if (seen[dim]) return infer.fail("has dimension ", dim, " twice in its permutation");
    seen[dim] = true;
    shape.push_back(operand->getDimSize(dim));
  }
  return infer.give(shape, operand->getElementType());
}

LogicalResult SliceOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand");
  if (failed(operand)) return failure();
  int64_t rank = operand->getRank();
  auto starts = infer.array(op.getStartsAttr(), "starts", rank, "dimensions");
  auto sizes = infer.array(op.getSizesAttr(), "sizes", rank, "dimensions");
  auto steps = infer.array(op.getStepsAttr(), "steps", rank, "dimensions");
  if (failed(starts) || failed(sizes) || failed(steps)) return failure();
  for (int64_t i = 0; i < rank; ++i) {
    int64_t start = (*starts)[i], size = (*sizes)[i], step = (*steps)[i], dim = operand->getDimSize(i);
    if (size < 0 || step == 0) return infer.fail("takes ", size, " elements by steps of ", step, " from dimension ", i);
    if (size == 0) continue;
    auto outside = [&](int64_t index) { return index < 0 || index >= dim; };
    int64_t last;
    if (llvm::MulOverflow(size - 1, step, last) || llvm::AddOverflow(start, last, last)) last = -1;
    if (outside(start) || outside(last))
      return infer.fail("takes elements ", start, " to ", last, " of ", dim, " in dimension ", i);
  }
  return infer.give(*sizes, operand->getElementType());
}

LogicalResult ConcatOp::inferTypes(const Inference &infer, Adaptor op) {
  if (op.getOperands().empty()) return infer.fail("joins no tensors; it takes 1 or more");
  auto first = infer.tensor(op.getOperands()[0], "operand 0");
  if (failed(first)) return failure();
  auto axis = infer.axis(op.getAxisAttr(), *first);
  if (failed(axis)) return failure();
  SmallVector<int64_t> shape(first->getShape());
  for (auto [i, operand] : llvm::enumerate(op.getOperands().drop_front())) {
    std::string name = "operand " + std::to_string(i + 1);
    auto type = infer.tensor(operand, name);
    if (failed(type) || failed(infer.sameElementType(*first, "operand 0", *type, name))) return failure();
    bool fits = type->getRank() == first->getRank();
    for (int64_t d = 0; fits && d < first->getRank(); ++d)
      fits = d == *axis || type->getDimSize(d) == first->getDimSize(d);
    if (!fits)
      return infer.fail("joins operand 0 ", describe(*first), " with ", name, " ", describe(*type), " along axis ",
                        *axis);
    shape[*axis] += type->getDimSize(*axis);
  }
  return infer.give(shape, first->getElementType());
}

LogicalResult PadOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand"), value = infer.tensor(op.getValue(), "value");
  if (failed(operand) || failed(value) || failed(infer.sameElementType(*operand, "operand", *value, "value")) ||
      failed(infer.present(op.getModeAttr(), "mode")))
    return failure();
  if (value->getNumElements() != 1)
    return infer.fail("fills with one element, got ", value->getNumElements(), " in ", describe(*value));
  int64_t rank = operand->getRank();
  auto low = infer.array(op.getLowAttr(), "low sizes", rank, "dimensions");
  auto high = infer.array(op.getHighAttr(), "high sizes", rank, "dimensions");
  if (failed(low) || failed(high)) return failure();
  PadMode mode = op.getMode();
  SmallVector<int64_t> shape;
  for (int64_t i = 0; i < rank; ++i) {
    int64_t before = (*low)[i], behind = (*high)[i], size = operand->getDimSize(i);
    if (before < 0 || behind < 0)
      return infer.fail("pads dimension ", i, " by ", before, " and ", behind, ", which must not be negative");
    if (!isModest(before) || !isModest(behind))
      return infer.fail("pads dimension ", i, " by ", before, " and ", behind, "; 2^30 is the most");
    // The elements that a mode needs to take the padding from: reflection does not repeat the edge.
    int64_t most = std::max(before, behind), needed = most == 0 ? 0 : mode == PadMode::reflect ? most + 1 : 1;
    if (mode != PadMode::constant && needed > size)
      return infer.fail("pads dimension ", i, " by ", most, " elements in mode ", stringifyPadMode(mode),
                        ", which takes ", needed, " elements, and has ", size);
    shape.push_back(size + before + behind);
  }
  return infer.give(shape, operand->getElementType());
}

LogicalResult GatherOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand"), indices = infer.tensor(op.getIndices(), "indices");
  if (failed(operand) || failed(indices)) return failure();
  auto axis = infer.axis(op.getAxisAttr(), *operand);
  if (failed(axis)) return failure();
  SmallVector<int64_t> shape(operand->getShape().take_front(*axis));
  llvm::append_range(shape, indices->getShape());
  llvm::append_range(shape, operand->getShape().drop_front(*axis + 1));
  return infer.give(shape, operand->getElementType());
}

/// Indices of the rank of operand, no larger in any dimension but the axis.
static LogicalResult checkElementIndices(const Inference &infer, RankedTensorType operand, RankedTensorType indices,
                                         int64_t axis) {
  bool fits = indices.getRank() == operand.getRank();
  for (int64_t d = 0; fits && d < operand.getRank(); ++d)
    fits = d == axis || indices.getDimSize(d) <= operand.getDimSize(d);
  if (fits) return success();
  return infer.fail("has indices ", describe(indices), " into ", describe(operand), " along axis ", axis,
                    "; they must fit in the other dimensions");
}

LogicalResult GatherElementsOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand"), indices = infer.tensor(op.getIndices(), "indices");
  if (failed(operand) || failed(indices)) return failure();
  auto axis = infer.axis(op.getAxisAttr(), *operand);
  if (failed(axis) || failed(checkElementIndices(infer, *operand, *indices, *axis))) return failure();
  return infer.give(indices->getShape(), operand->getElementType());
}

/// The length of the index tuples, which address dimensions from `batch` on.
static FailureOr<int64_t> inferTuple(const Inference &infer, RankedTensorType operand, RankedTensorType indices,
                                     int64_t batch) {
  if (failed(infer.rankAtLeast(indices, "indices", batch + 1))) return failure();
  int64_t length = indices.getShape().back();
  if (length + batch > operand.getRank())
    return infer.fail("has index tuples of ", length, " for ", operand.getRank() - batch, " dimensions of ",
                      describe(operand));
  return length;
}

LogicalResult GatherNdOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand"), indices = infer.tensor(op.getIndices(), "indices");
  if (failed(operand) || failed(indices)) return failure();
  int64_t batch = op.getBatchDims();
  if (batch < 0 || batch > operand->getRank() || batch >= indices->getRank())
    return infer.fail("has ", batch, " batch dimensions on ", describe(*operand), " with indices ", describe(*indices));
  auto length = inferTuple(infer, *operand, *indices, batch);
  if (failed(length)) return failure();
  if (operand->getShape().take_front(batch) != indices->getShape().take_front(batch))
    return infer.fail("has ", batch, " batch dimensions that differ in operand ", describe(*operand), " and indices ",
                      describe(*indices));
  SmallVector<int64_t> shape(indices->getShape().drop_back());
  llvm::append_range(shape, operand->getShape().drop_front(batch + *length));
  return infer.give(shape, operand->getElementType());
}

LogicalResult ScatterElementsOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand"), indices = infer.tensor(op.getIndices(), "indices");
  auto updates = infer.tensor(op.getUpdates(), "updates");
  if (failed(operand) || failed(indices) || failed(updates) || failed(infer.present(op.getKindAttr(), "kind")) ||
      failed(infer.sameElementType(*operand, "operand", *updates, "updates")))
    return failure();
  auto axis = infer.axis(op.getAxisAttr(), *operand);
  if (failed(axis) || failed(checkElementIndices(infer, *operand, *indices, *axis))) return failure();
  if (indices->getShape() != updates->getShape())
    return infer.fail("writes updates ", describe(*updates), " at indices ", describe(*indices),
                      "; their shapes must be equal");
  return infer.give(*operand);
}

LogicalResult ScatterNdOp::inferTypes(const Inference &infer, Adaptor op) {
  auto operand = infer.tensor(op.getOperand(), "operand"), indices = infer.tensor(op.getIndices(), "indices");
  auto updates = infer.tensor(op.getUpdates(), "updates");
  if (failed(operand) || failed(indices) || failed(updates) || failed(infer.present(op.getKindAttr(), "kind")) ||
      failed(infer.sameElementType(*operand, "operand", *updates, "updates")))
    return failure();
  auto length = inferTuple(infer, *operand, *indices, 0);
  if (failed(length)) return failure();
  SmallVector<int64_t> shape(indices->getShape().drop_back());
  llvm::append_range(shape, operand->getShape().drop_front(*length));
  if (updates->getShape() != ArrayRef<int64_t>(shape))
    return infer.fail("writes updates ", describe(*updates), " where indices ", describe(*indices), " into ",
                      describe(*operand), " take ", describe(RankedTensorType::get(shape, operand->getElementType())));
  return infer.give(*operand);
}

} // namespace sprig::ir
