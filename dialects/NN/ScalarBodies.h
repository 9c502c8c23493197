// Scalar bodies that several operations share. Private to the dialect.
// Values are in compute form (half types as f32, integers signless); element types say what they stand for.
#pragma once
#include "dialects/NN/ScalarBuilder.h"

namespace sprig::ir {

/// Conversions as nn.cast defines them. The result is in the compute form of `to`, not yet rounded to a half type.
mlir::Value buildCast(ScalarBuilder &s, mlir::Value x, mlir::Type from, mlir::Type to);
mlir::Value buildBitcast(ScalarBuilder &s, mlir::Value x, mlir::Type from, mlir::Type to);

/// Quotient and remainder that are never undefined: by zero they give the dividend and zero (the caller reports it),
/// the lowest number by -1 wraps.
mlir::Value buildIntegerDivision(ScalarBuilder &s, mlir::Value x, mlir::Value y, bool isUnsigned);
mlir::Value buildIntegerRemainder(ScalarBuilder &s, mlir::Value x, mlir::Value y, bool isUnsigned);

/// Power by repeated squaring; wraps. A negative exponent gives the truncated quotient 1 / x^-y: 0 but for x = 1, -1.
mlir::Value buildIntegerPower(ScalarBuilder &s, mlir::Value x, mlir::Value y, bool baseUnsigned, bool exponentUnsigned);

} // namespace sprig::ir
