// Canonical forms of slices. Of those that take one element along an axis: a slice, and one taken in front of what only
// moves elements, so that fewer are moved. The last step of a loop's outputs is what the loop ends with, and outputs
// that nothing uses are not stacked: of a recurrent network whose last step counts no other is kept.
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNRecurrent.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNYield.h"
#include "dialects/NN/Select.h"
#include "dialects/NN/UnusedResults.h"

using namespace mlir;

namespace sprig::ir {

/// A gather of one known element.
static LogicalResult sliceForGather(GatherOp op, PatternRewriter &rewriter) {
  auto indices = op.getIndices().getDefiningOp<ConstantOp>();
  std::string reason;
  if (!indices || tensorOf(op.getIndices()).getNumElements() != 1 || !isReadableConstant(indices.getValue(), reason))
    return failure();
  int64_t axis = int64_t(op.getAxis()), size = tensorOf(op.getOperand()).getDimSize(axis);
  auto index = int64_t(ConstantView(indices.getValue()).asDouble(0));
  if (index < 0) index += size;
  if (index < 0 || index >= size) return failure(); // told at run time
  Value one = select(rewriter, op.getLoc(), op.getOperand(), axis, index);
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), one);
  return success();
}

static LogicalResult selectBeforeTranspose(SliceOp op, PatternRewriter &rewriter) {
  auto moved = op.getOperand().getDefiningOp<TransposeOp>();
  std::optional<int64_t> axis = selectedAxis(op);
  if (!moved || !axis) return failure();
  Value one = select(rewriter, op.getLoc(), moved.getOperand(), moved.getPermutation()[*axis], op.getStarts()[*axis]);
  rewriter.replaceOpWithNewOp<TransposeOp>(op, one, moved.getPermutation());
  return success();
}

/// A reshape that keeps the axis: as many elements lie in front of it and behind it as before.
static LogicalResult selectBeforeReshape(SliceOp op, PatternRewriter &rewriter) {
  auto shaped = op.getOperand().getDefiningOp<ReshapeOp>();
  std::optional<int64_t> axis = selectedAxis(op);
  if (!shaped || !axis) return failure();
  ArrayRef<int64_t> before = tensorOf(shaped.getOperand()).getShape(), after = tensorOf(shaped.getResult()).getShape();
  int64_t ahead = llvm::product_of(after.take_front(*axis));
  for (auto [i, size] : llvm::enumerate(before)) {
    if (size != after[*axis] || llvm::product_of(before.take_front(i)) != ahead) continue;
    Value one = select(rewriter, op.getLoc(), shaped.getOperand(), int64_t(i), op.getStarts()[*axis]);
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), one);
    return success();
  }
  return failure();
}

/// A part of the integers that an iota counts is counted itself, from where it begins. Sums of others would round, and
/// narrow ones wrap.
static LogicalResult sliceIota(SliceOp op, PatternRewriter &rewriter) {
  auto iota = op.getOperand().getDefiningOp<IotaOp>();
  Type element = op.getType().getElementType();
  if (!iota || !isa<IntegerType>(element) || element.getIntOrFloatBitWidth() < 32) return failure();
  int64_t axis = int64_t(iota.getAxis()), start = op.getStarts()[axis], step = op.getSteps()[axis];
  RankedTensorType number = op.getType().clone(ArrayRef<int64_t>());
  auto constant = [&](int64_t value) { return createSplat(rewriter, op.getLoc(), number, double(value)); };
  Value part = IotaOp::create(rewriter, op.getLoc(), op.getType(), axis);
  if (step != 1) part = MulOp::create(rewriter, op.getLoc(), part, constant(step));
  if (start != 0) part = AddOp::create(rewriter, op.getLoc(), part, constant(start));
  rewriter.replaceOp(op, part);
  return success();
}

/// The last of a loop's outputs, or of a layer's that has no lengths, where it is what is carried.
static Value lastOf(OpResult outputs, int64_t step) {
  auto isLast = [&](bool reverse) { return step == (reverse ? 0 : tensorOf(outputs).getDimSize(0) - 1); };
  if (auto scan = dyn_cast<ScanOp>(outputs.getOwner())) {
    unsigned index = outputs.getResultNumber();
    if (index < scan.getNumCarried() || !isLast(scan.getReverse())) return {};
    auto yielded = scan.getStep().getTerminator()->getOperands();
    for (unsigned i = 0; i < scan.getNumCarried(); ++i)
      if (yielded[i] == yielded[index]) return scan.getResult(i);
    return {};
  }
  auto ofLayer = [&](auto layer) -> Value {
    bool isOutput = layer && outputs == layer.getOutputs() && !layer.getLengths() && isLast(layer.getReverse());
    return isOutput ? Value(layer.getLastH()) : Value();
  };
  if (auto layer = dyn_cast<RnnOp>(outputs.getOwner())) return ofLayer(layer);
  if (auto layer = dyn_cast<GruOp>(outputs.getOwner())) return ofLayer(layer);
  if (auto layer = dyn_cast<LstmOp>(outputs.getOwner())) return ofLayer(layer);
  if (auto layer = dyn_cast<LstmIntegerOp>(outputs.getOwner())) return ofLayer(layer);
  return {};
}

static LogicalResult takeLastStep(SliceOp op, PatternRewriter &rewriter) {
  auto outputs = dyn_cast<OpResult>(op.getOperand());
  if (!outputs || selectedAxis(op) != 0) return failure();
  Value last = lastOf(outputs, op.getStarts()[0]);
  if (!last) return failure();
  rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), last);
  return success();
}

/// Outputs of a loop's steps that nothing uses.
static LogicalResult dropUnusedOutputs(ScanOp op, PatternRewriter &rewriter) {
  llvm::BitVector unused(op.getNumResults());
  for (unsigned i = op.getNumCarried(); i < op.getNumResults(); ++i)
    if (op.getResult(i).use_empty()) unused.set(i);
  if (unused.none() || op->use_empty()) return failure(); // without any use the operation itself is dead
  dropResults(rewriter, op, unused);
  return success();
}

void GatherOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add(sliceForGather);
}

void SliceOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add(selectBeforeTranspose).add(selectBeforeReshape).add(sliceIota).add(takeLastStep);
}

void ScanOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add(dropUnusedOutputs);
}

} // namespace sprig::ir
