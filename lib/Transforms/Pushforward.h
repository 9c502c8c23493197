// Jacobian-vector products operation by operation, in program order. For the differentiate pass, where a loop of
// unknown length (nn.while) lies on the way, which has no vector-Jacobian product; elsewhere the product of a product
// does it.
#pragma once
#include "mlir/IR/Builders.h"

namespace sprig {

/// Whether an nn.while lies between the targets and the outputs, in the block of the insertion point.
bool passesLoop(mlir::OpBuilder &builder, mlir::ValueRange outputs, mlir::ValueRange targets);

/// The derivatives of `outputs` along `tangents` of `targets`, written at the insertion point. All are values of its
/// block. Fails with a diagnostic at an operation that has none.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> pushforward(mlir::OpBuilder &builder, mlir::ValueRange outputs,
                                                            mlir::ValueRange targets, mlir::ValueRange tangents);

} // namespace sprig
