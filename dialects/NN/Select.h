// Slices that take one element along an axis.
#pragma once
#include "dialects/NN/NNShapeOps.h"
#include <optional>

namespace sprig::ir {

/// The only axis along which a slice takes one element of several, if it takes all along the others.
std::optional<int64_t> selectedAxis(SliceOp op);

/// Element `index` along an axis, whose size becomes 1.
mlir::Value select(mlir::OpBuilder &b, mlir::Location loc, mlir::Value value, int64_t axis, int64_t index);

} // namespace sprig::ir
