// Operations that move elements. Splats stay splats.
#include "lib/Interpreter/Evaluation.h"
#include "dialects/NN/NNShapeOps.h"
#include <algorithm>

namespace sprig::interp {
namespace {

mlir::LogicalResult evaluateIota(ir::IotaOp op, Evaluation &e) {
  mlir::RankedTensorType type = e.resultType();
  int64_t axis = fromFront(op.getAxis(), type.getRank());
  Strides strides(type.getRank(), 0);
  if (axis < type.getRank()) strides[axis] = 1;
  auto fill = [&](auto zero) {
    using T = decltype(zero);
    std::vector<T> result(type.getNumElements());
    walk<1>(type.getShape(), {strides}, [&](int64_t i, const std::array<int64_t, 1> &at) { result[i] = T(at[0]); });
    return e.give(Tensor::of<T>(type, std::move(result)));
  };
  return llvm::isa<mlir::FloatType>(type.getElementType()) ? fill(double()) : fill(int64_t());
}

// A result whose element at each position is the operand's at `offset` plus strides.
mlir::LogicalResult giveStrided(Evaluation &e, Strides strides, int64_t offset = 0) {
  const Tensor &operand = e.operands[0];
  mlir::RankedTensorType type = e.resultType();
  if (operand.isSplat()) return e.give(operand.reshaped(type));
  return giveLike(operand, e, [&]<typename T>(std::vector<T> &result) {
    if (isSmallPart(operand, type.getNumElements())) {
      // Runs of neighbours, so that what thousands of slices are cut of is not read as a whole for each.
      int64_t run = 1, outer = type.getRank();
      while (outer > 0 && (strides[outer - 1] == run || type.getDimSize(outer - 1) == 1))
        run *= type.getDimSize(--outer);
      strides.truncate(outer);
      return walk<1>(
          type.getShape().take_front(outer), {strides},
          [&](int64_t i, const std::array<int64_t, 1> &at) { operand.load(at[0], run, result.data() + i * run); },
          {offset});
    }
    Elements<T> in = operand.elements<T>();
    walk<1>(type.getShape(), {strides}, [&](int64_t i, const std::array<int64_t, 1> &at) { result[i] = in[at[0]]; },
            {offset});
  });
}

mlir::LogicalResult evaluateReshape(ir::ReshapeOp, Evaluation &e) {
  return e.give(e.operands[0].reshaped(e.resultType()));
}
mlir::LogicalResult evaluateBroadcast(ir::BroadcastOp, Evaluation &e) {
  return giveStrided(e, broadcastStrides(e.operands[0].shape(), e.resultType().getShape()));
}
mlir::LogicalResult evaluateTranspose(ir::TransposeOp op, Evaluation &e) {
  Strides own = rowMajorStrides(e.operands[0].shape()), strides;
  for (int64_t d : op.getPermutation()) strides.push_back(own[d]);
  return giveStrided(e, strides);
}
mlir::LogicalResult evaluateSlice(ir::SliceOp op, Evaluation &e) {
  Strides strides = rowMajorStrides(e.operands[0].shape());
  int64_t offset = 0;
  for (size_t d = 0; d < strides.size(); ++d) {
    offset += op.getStarts()[d] * strides[d];
    strides[d] *= op.getSteps()[d];
  }
  return giveStrided(e, strides, offset);
}

bool areOneSplat(llvm::ArrayRef<Tensor> tensors) {
  if (!llvm::all_of(tensors, [](const Tensor &t) { return t.isSplat(); })) return false;
  std::vector<char> first = tensors.front().bytes(/*keepSplat=*/true);
  return llvm::all_of(tensors.drop_front(), [&](const Tensor &t) { return t.bytes(true) == first; });
}

mlir::LogicalResult evaluateConcat(ir::ConcatOp op, Evaluation &e) {
  mlir::RankedTensorType type = e.resultType();
  if (type.getNumElements() && areOneSplat(e.operands)) return e.give(e.operands[0].reshaped(type));
  int64_t axis = fromFront(op.getAxis(), type.getRank());
  int64_t outer = product(type.getShape().take_front(axis)), row = product(type.getShape().drop_front(axis));
  return giveLike(e.operands[0], e, [&](auto &result) {
    int64_t column = 0;
    for (const Tensor &part : e.operands) {
      int64_t width = product(part.shape().drop_front(axis));
      for (int64_t o = 0; o < outer; ++o) part.load(o * width, width, result.data() + o * row + column);
      column += width;
    }
  });
}

// The operand's index that position `i` (counted from the operand's first element) shows, or -1 for the fill value.
int64_t paddedIndex(ir::PadMode mode, int64_t i, int64_t size) {
  if (i >= 0 && i < size) return i;
  switch (mode) {
  case ir::PadMode::constant: return -1;
  case ir::PadMode::edge: return i < 0 ? 0 : size - 1;
  case ir::PadMode::wrap: return ((i % size) + size) % size;
  case ir::PadMode::reflect: {
    if (size == 1) return 0;
    int64_t period = 2 * (size - 1), at = ((i % period) + period) % period;
    return at < size ? at : period - at;
  }
  }
  return -1;
}

mlir::LogicalResult evaluatePad(ir::PadOp op, Evaluation &e) {
  const Tensor &operand = e.operands[0], &value = e.operands[1];
  mlir::RankedTensorType type = e.resultType();
  bool constant = op.getMode() == ir::PadMode::constant;
  if (operand.isSplat() && operand.count() && (!constant || areOneSplat(e.operands)))
    return e.give(operand.reshaped(type));
  if (!constant && operand.count() == 0 && type.getNumElements())
    return e.fail("pads an empty operand with elements of its own");
  // Per dimension, the offset of each result index, or -1.
  Strides strides = rowMajorStrides(operand.shape());
  llvm::SmallVector<std::vector<int64_t>> offsets(type.getRank());
  for (int64_t d = 0; d < type.getRank(); ++d)
    for (int64_t i = 0; i < type.getDimSize(d); ++i) {
      int64_t at = paddedIndex(op.getMode(), i - op.getLow()[d], operand.shape()[d]);
      offsets[d].push_back(at < 0 ? -1 : at * strides[d]);
    }
  return giveLike(operand, e, [&]<typename T>(std::vector<T> &result) {
    Elements<T> in = operand.elements<T>(), fill = value.elements<T>();
    llvm::SmallVector<int64_t> index(type.getRank(), 0);
    for (T &out : result) {
      int64_t at = 0;
      for (int64_t d = 0; d < type.getRank() && at >= 0; ++d)
        at = offsets[d][index[d]] < 0 ? -1 : at + offsets[d][index[d]];
      out = at < 0 ? fill[0] : in[at];
      for (int64_t d = type.getRank() - 1; d >= 0 && ++index[d] == type.getDimSize(d); --d) index[d] = 0;
    }
  });
}

} // namespace

void addShapeOps(EvaluatorTable &table) {
  table.add(evaluateIota, evaluateReshape, evaluateBroadcast, evaluateTranspose, evaluateSlice, evaluateConcat,
            evaluatePad);
}

} // namespace sprig::interp
