// One step of a reduction, its identity, and the fixed trees that end it. For emitters of every target.
#pragma once
#include "dialects/NN/NNReduction.h"
#include "lib/Target/Kernels/ElementBuilder.h"

namespace sprig {

/// Whether a maximum of floats is but what a softmax takes off its elements. Then it may leave NaN out, and be a zero
/// of either sign: a NaN comes back by the sum of the exponentials, which goes into all that is left of them.
bool isSoftmaxShift(ir::ReduceOp reduce);

/// The identity of a reduction, and one step of it, on compute values of `elementType`; of a maximum that `isShift` in
/// one instruction.
mlir::Value reductionIdentity(ElementBuilder &kernel, ir::ReduceKind kind, mlir::Type elementType, int64_t lanes);
mlir::Value reductionStep(ElementBuilder &kernel, ir::ReduceKind kind, mlir::Type elementType, mlir::Value accumulator,
                          mlir::Value value, bool isShift = false);
/// The fixed tree over kLanes partial results (distance 8, 4, 2, 1).
mlir::Value reductionTree(ElementBuilder &kernel, ir::ReduceKind kind, mlir::Type elementType, mlir::Value partials);
/// The same tree over each of kLanes vectors at once: lane r of the result is that of vector r.
mlir::Value reductionTrees(ElementBuilder &kernel, ir::ReduceKind kind, mlir::Type elementType,
                           llvm::SmallVector<mlir::Value> partials, bool isShift = false);

} // namespace sprig
