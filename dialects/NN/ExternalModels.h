// Interfaces that the dialect attaches to its operations when it is loaded, beside dimension rules (DimensionRules.h).
#pragma once
#include "mlir/IR/MLIRContext.h"

namespace sprig::ir {

/// Which integers operations can work with (IndexRanges.cpp).
void attachIndexRanges(mlir::MLIRContext *context);
/// What operations touch of their operands and results (Touch.cpp).
void attachTouch(mlir::MLIRContext *context);

} // namespace sprig::ir
