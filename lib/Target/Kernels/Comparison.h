// What comes first: comparisons in which NaN has its place. For emitters of every target.
#pragma once
#include "lib/Target/Kernels/ElementBuilder.h"

namespace sprig {

/// Whether a precedes b: larger (or smaller) first, NaN counting as larger than every number.
mlir::Value precedes(ElementBuilder &kernel, mlir::Type elementType, bool largest, mlir::Value a, mlir::Value b);

/// Ordered comparison of compute values: a > b, or a < b, or (with `orEqual`) equal too.
mlir::Value isBeyond(ElementBuilder &kernel, mlir::Type elementType, bool larger, bool orEqual, mlir::Value a,
                     mlir::Value b);
mlir::Value isNan(ElementBuilder &kernel, mlir::Value value);

} // namespace sprig
