// Tensors rounded to bytes by their own range, and products of bytes, as expressions of nn primitives. For
// decompositions and importers.
#pragma once
#include "dialects/NN/ExpressionBuilder.h"

namespace sprig::ir {

/// A tensor as ui8 with one scale and one zero point, which its extremes and 0 give.
struct DynamicBytes {
  mlir::Value bytes;
  mlir::Value scale;   ///< f32 []: (high - low) / 255, 0 of a tensor of zeros
  mlir::Value divisor; ///< the scale, but 1 where that is 0
  mlir::Value zero;    ///< ui8 []
};
/// f32 to bytes: round(x / divisor) + zero, saturated (ONNX, DynamicQuantizeLinear).
DynamicBytes quantizeByRange(Expression &e, mlir::Value x);

/// The right side of a product of bytes, w - zero, as signed bytes plus one number for each column.
struct IntegerWeight {
  mlir::Value bytes; ///< i8, in the shape of w; null where w or its zero point is no constant
  mlir::Value rest;  ///< i32 [N]; null where all are 0
};
/// Of a matrix w [K, N], or [N, K] where it is transposed.
IntegerWeight integerWeight(Expression &e, mlir::Value weight, mlir::Value zero, bool isTransposed);
/// The sums of the columns of such a constant of bytes, i32 [N], which wrap.
mlir::Value columnSums(Expression &e, mlir::Value bytes, bool isTransposed);

/// (x - zero) times w - zero of w, in integers of 32 bits that wrap: x is ui8, `zero` i32 or null where it is 0; `sums`
/// gives the columns' sums, which a zero point asks for.
mlir::Value multiplyBytes(Expression &e, mlir::Value x, mlir::Value zero, const IntegerWeight &weight,
                          llvm::function_ref<mlir::Value()> sums, bool isTransposed);

} // namespace sprig::ir
