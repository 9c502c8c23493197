// Reverse-mode differentiation of a part of a block.
// For the differentiate pass. Operations tell their vector-Jacobian products by DifferentiableOpInterface; composites
// that have none are decomposed in place first.
#pragma once
#include "dialects/NN/NNDialect.h"

namespace sprig {

/// The vector-Jacobian product of what lies between `targets` and `outputs`, both of the block where the builder stands
/// and in front of it: for each target the sum over the outputs of cotangent times Jacobian, of the target's type,
/// zeros where no output depends on it. Fails with a diagnostic at an operation that has no gradient.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> pullback(mlir::OpBuilder &builder, mlir::ValueRange outputs,
                                                         mlir::ValueRange cotangents, mlir::ValueRange targets);

} // namespace sprig
