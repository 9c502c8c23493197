// The order in which nn.reduce takes its elements in, which follows from the model's layout (docs/numerics.md).
// For passes that move reductions to other layouts and for the emitters. Where the innermost dimension is reduced, a
// result has 16 partial accumulators, by the place in that dimension; else it is one chain.
#pragma once
#include "dialects/NN/Attributes.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/SumOfSamples.h"

namespace sprig::ir {

/// Whether every order gives the same bits: maxima, minima and whatever is made of integers.
inline bool isOrderFree(ReduceOp op) {
  bool picks = op.getKind() == ReduceKind::max || op.getKind() == ReduceKind::min;
  auto type = llvm::cast<mlir::RankedTensorType>(op.getOperand().getType());
  return picks || !llvm::isa<mlir::FloatType>(type.getElementType());
}

/// Whether a result has partial accumulators.
inline bool hasPartials(ReduceOp op) {
  int64_t last = llvm::cast<mlir::RankedTensorType>(op.getOperand().getType()).getRank() - 1;
  return llvm::is_contained(op.getAxes(), last) || op->hasAttr(kPartialsAttr);
}

/// Whether the reduced dimensions alone decide in which order a result takes its elements in, on all devices. Other
/// sums are grouped by the number of results too: those of samples, and columns on GPUs.
inline bool hasOrderOfAxes(ReduceOp op) {
  int64_t last = llvm::cast<mlir::RankedTensorType>(op.getOperand().getType()).getRank() - 1;
  return isOrderFree(op) || (llvm::is_contained(op.getAxes(), last) && !llvm::is_contained(op.getAxes(), 0));
}

/// Whether a sum over an operand of this shape is that of its samples' sums. A half type would round these.
inline bool isSumOfSamplesAt(ReduceOp op, llvm::ArrayRef<int64_t> shape) {
  mlir::Type element = op.getOperand().getType().getElementType();
  return op.getKind() == ReduceKind::sum && (element.isF32() || element.isF64()) && isSumOfSamples(shape, op.getAxes());
}

} // namespace sprig::ir
