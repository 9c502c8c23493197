// Folders: identities, and operations on splats and shapes, which stay splats. Folding of other constants is the
// interpreter's (lib/Interpreter/Fold.h).
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNUnary.h"
#include "dialects/NN/Select.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/TypeUtilities.h"
#include <cmath>

using namespace mlir;

namespace sprig::ir {

/// The same constant in another shape; no byte of it is copied.
static Attribute reshaped(Attribute value, RankedTensorType type) {
  if (auto resource = dyn_cast_or_null<DenseResourceElementsAttr>(value))
    return DenseResourceElementsAttr::get(type, resource.getRawHandle());
  if (auto dense = dyn_cast_or_null<DenseElementsAttr>(value)) return dense.reshape(type);
  return {};
}

/// A splat constant in another shape.
static Attribute resplatted(Attribute value, RankedTensorType type) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(value);
  return splat ? splat.resizeSplat(type) : Attribute();
}

/// The value of a splat constant.
static std::optional<double> splatValue(Attribute value) {
  auto splat = dyn_cast_or_null<SplatElementsAttr>(value);
  if (!splat) return std::nullopt;
  return ConstantView(cast<ElementsAttr>(Attribute(splat))).asDouble(0);
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType()) return getOperand();
  if (Attribute value = reshaped(adaptor.getOperand(), getType())) return value;
  if (auto inner = getOperand().getDefiningOp<ReshapeOp>()) {
    if (inner.getOperand().getType() == getType()) return inner.getOperand();
    getOperandMutable().assign(inner.getOperand());
    return getResult();
  }
  return {};
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getOperand().getType() == getType()) return getOperand();
  if (Attribute value = resplatted(adaptor.getOperand(), getType())) return value;
  if (auto inner = getOperand().getDefiningOp<BroadcastOp>()) {
    getOperandMutable().assign(inner.getOperand());
    return getResult();
  }
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  ArrayRef<int64_t> permutation = getPermutation();
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size()))) return getOperand();
  if (Attribute value = resplatted(adaptor.getOperand(), getType())) return value;
  if (auto inner = getOperand().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> both;
    for (int64_t dim : permutation) both.push_back(inner.getPermutation()[dim]);
    if (llvm::equal(both, llvm::seq<int64_t>(0, both.size()))) return inner.getOperand();
    getOperandMutable().assign(inner.getOperand());
    setPermutation(both);
    return getResult();
  }
  return {};
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  // A negative step with the operand's type reverses, unless there is nothing to reverse.
  bool forward = llvm::all_of(llvm::zip(getSteps(), getSizes()),
                              [](auto pair) { return std::get<0>(pair) > 0 || std::get<1>(pair) <= 1; });
  if (getOperand().getType() == getType() && forward) return getOperand();
  if (Attribute value = resplatted(adaptor.getOperand(), getType())) return value;
  // Folds only into a slice that has no other reader. Slices that select one element have folds of their own
  // (SelectFolds.cpp).
  auto inner = getOperand().getDefiningOp<SliceOp>();
  if (!inner || !inner->hasOneUse() || selectedAxis(inner) || selectedAxis(*this)) return {};
  SmallVector<int64_t> starts, steps;
  for (auto [start, step, own, ownStep] :
       llvm::zip_equal(inner.getStarts(), inner.getSteps(), getStarts(), getSteps())) {
    starts.push_back(start + own * step);
    steps.push_back(step * ownStep);
  }
  getOperandMutable().assign(inner.getOperand());
  setStarts(starts);
  setSteps(steps);
  return getResult();
}

/// The concatenation along the same axis that alone reads this one.
static ConcatOp outerConcat(ConcatOp op) {
  auto outer = op->hasOneUse() ? dyn_cast<ConcatOp>(*op->user_begin()) : ConcatOp();
  return outer && outer->getBlock() == op->getBlock() && outer.getAxis() == op.getAxis() ? outer : ConcatOp();
}

// The outermost of nested concatenations takes the operands of all: one by one, a chain would take the square of time.
static bool joinNested(ConcatOp op) {
  auto isNested = [&](Value operand) {
    auto inner = operand.getDefiningOp<ConcatOp>();
    return inner && outerConcat(inner);
  };
  if (outerConcat(op) || llvm::none_of(op.getOperands(), isNested)) return false;
  SmallVector<Value> flat, left(llvm::reverse(op.getOperands()));
  while (!left.empty()) {
    Value operand = left.pop_back_val();
    if (isNested(operand))
      llvm::append_range(left, llvm::reverse(operand.getDefiningOp()->getOperands()));
    else
      flat.push_back(operand);
  }
  op.getOperandsMutable().assign(flat);
  return true;
}

OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  // The only operand that has elements is the result.
  Value only;
  for (Value operand : getOperands()) {
    if (cast<RankedTensorType>(operand.getType()).getNumElements() == 0) continue;
    if (only) return joinNested(*this) ? OpFoldResult(getResult()) : OpFoldResult();
    only = operand;
  }
  if (!only && getNumOperands() == 1) only = getOperands()[0];
  return only && only.getType() == getType() ? OpFoldResult(only) : OpFoldResult();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() ? OpFoldResult(getOperand()) : OpFoldResult();
}

OpFoldResult CastOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() ? OpFoldResult(getOperand()) : OpFoldResult();
}

OpFoldResult BitcastOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() ? OpFoldResult(getOperand()) : OpFoldResult();
}

// Only what keeps every bit: x + 0 turns -0 into 0, so the neutral element of a float sum is -0.
static bool isNeutralOfSum(std::optional<double> value, Type type, bool negative) {
  if (!value || *value != 0) return false;
  return !isa<FloatType>(getElementTypeOrSelf(type)) || std::signbit(*value) == negative;
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  if (getLhs().getType() == getType() && isNeutralOfSum(splatValue(adaptor.getRhs()), getType(), true)) return getLhs();
  if (getRhs().getType() == getType() && isNeutralOfSum(splatValue(adaptor.getLhs()), getType(), true)) return getRhs();
  return {};
}

OpFoldResult SubOp::fold(FoldAdaptor adaptor) {
  if (getLhs().getType() == getType() && isNeutralOfSum(splatValue(adaptor.getRhs()), getType(), false))
    return getLhs();
  return {};
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (getLhs().getType() == getType() && splatValue(adaptor.getRhs()) == 1.0) return getLhs();
  if (getRhs().getType() == getType() && splatValue(adaptor.getLhs()) == 1.0) return getRhs();
  return {};
}

OpFoldResult DivOp::fold(FoldAdaptor adaptor) {
  if (getLhs().getType() == getType() && splatValue(adaptor.getRhs()) == 1.0) return getLhs();
  return {};
}

} // namespace sprig::ir
