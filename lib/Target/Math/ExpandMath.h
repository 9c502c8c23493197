// Expansion of the math dialect's f32 functions into arithmetic: one set of polynomials for every target and
// instruction set, scalars and 1-d vectors alike, so that the way of compiling changes no bit. Functions of f64 stay
// where there is a library: the CPU's go through the runtime's table.
//
// Errors are below 2 ulp over the whole range (measured: docs/numerics.md); denormals, infinities, NaN and signed zeros
// are those of the C library. No function needs a fused multiply-add for its accuracy.
#pragma once
#include "dialects/NN/ScalarBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include <functional>

namespace sprig {

/// x 2^n, rounded once, where x is between 1/2 and 2 or a NaN and n a whole number of f32 between -1500 and 128: as a
/// target does it best. Without it that is spelled out, to the same bits.
using TimesPower = std::function<mlir::Value(ScalarBuilder &, mlir::Value x, mlir::Value n)>;

/// By the bits of powers of two, for processors that take long to round to denormals (measured: 50 ns): what rounds to
/// zero, as the exponential of a score that is masked does, is not computed.
mlir::Value timesPowerByBits(ScalarBuilder &s, mlir::Value x, mlir::Value n);

/// exp, expm1, log, log1p, pow, sin, cos, tan and their inverses, the hyperbolic ones, erf, rsqrt.
void populateSprigMathPatterns(mlir::RewritePatternSet &patterns, TimesPower timesPower = {});

/// What other targets call the C library for: the same functions of f64, within an ulp or a little more (measured:
/// docs/numerics.md), and remainders of f32 and f64, which are exact.
void populateSprigLibraryMathPatterns(mlir::RewritePatternSet &patterns);

} // namespace sprig
