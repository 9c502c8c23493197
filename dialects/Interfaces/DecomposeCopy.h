// The decomposition of a copy of a composite, which stays as it is. For whoever reads or runs that decomposition.
#pragma once
#include "mlir/IR/Operation.h"
#include "mlir/IR/Value.h"

namespace sprig {

/// Writes the decomposition of a composite into an empty block, which gets an argument for each operand; gives what
/// stands for the results. Fails where the composite does not decompose.
mlir::FailureOr<llvm::SmallVector<mlir::Value>> decomposeCopy(mlir::Operation *composite, mlir::Block &block);

} // namespace sprig
