// The expansions, one function each. Private to this folder. Arguments and results are f32, scalars or 1-d vectors,
// unless the name says 64: those serve as steps of others, at f64's cost but with no care for rounding errors.
// Functions named Double are of f64 itself, with care for them.
#pragma once
#include "lib/Target/Math/ExpandMath.h"
#include <limits>

namespace sprig::expand {

using mlir::Value;
using mlir::arith::CmpFPredicate;
using mlir::arith::CmpIPredicate;

inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Exponential.cpp
Value exp(ScalarBuilder &s, Value x, const TimesPower &timesPower);
Value log(ScalarBuilder &s, Value x);
Value tanh(ScalarBuilder &s, Value x);
Value erf(ScalarBuilder &s, Value x);

// Wide.cpp
Value expm1(ScalarBuilder &s, Value x);
Value log1p(ScalarBuilder &s, Value x);
Value sinh(ScalarBuilder &s, Value x);
Value cosh(ScalarBuilder &s, Value x);
Value asinh(ScalarBuilder &s, Value x);
Value acosh(ScalarBuilder &s, Value x);
Value atanh(ScalarBuilder &s, Value x);
Value pow(ScalarBuilder &s, Value x, Value y);

// Double.cpp
Value expDouble(ScalarBuilder &s, Value x);
Value logDouble(ScalarBuilder &s, Value x);
Value powDouble(ScalarBuilder &s, Value x, Value y);
/// x^y of f64 where |x|^y was found as exp(logarithm): with the sign of x for odd integers y, and IEEE 754's special
/// cases.
Value powCases(ScalarBuilder &s, Value x, Value y, Value logarithm, Value found);

// DoubleHyperbolic.cpp
Value expm1Double(ScalarBuilder &s, Value x);
Value log1pDouble(ScalarBuilder &s, Value x);
Value sinhDouble(ScalarBuilder &s, Value x);
Value coshDouble(ScalarBuilder &s, Value x);
Value tanhDouble(ScalarBuilder &s, Value x);
Value asinhDouble(ScalarBuilder &s, Value x);
Value acoshDouble(ScalarBuilder &s, Value x);
Value atanhDouble(ScalarBuilder &s, Value x);

// DoubleErf.cpp
Value erfDouble(ScalarBuilder &s, Value x);

// DoubleTrigonometric.cpp
Value sinDouble(ScalarBuilder &s, Value x);
Value cosDouble(ScalarBuilder &s, Value x);
Value tanDouble(ScalarBuilder &s, Value x);
Value asinDouble(ScalarBuilder &s, Value x);
Value acosDouble(ScalarBuilder &s, Value x);
Value atanDouble(ScalarBuilder &s, Value x);

// Remainder.cpp
/// The truncated remainder of scalars or vectors of f32 or f64, exact, with the sign of x.
Value remainder(ScalarBuilder &s, Value x, Value y);

// Trigonometric.cpp
Value sin(ScalarBuilder &s, Value x);
Value cos(ScalarBuilder &s, Value x);
Value tan(ScalarBuilder &s, Value x);
Value asin(ScalarBuilder &s, Value x);
Value acos(ScalarBuilder &s, Value x);
Value atan(ScalarBuilder &s, Value x);
/// Whether a magnitude is from `bound` on; infinities and NaN take the near path, which gives NaN.
Value isFar(ScalarBuilder &s, Value magnitude, double bound);
/// `near`; where some lane is `far`, those lanes get what `slow` computes.
llvm::SmallVector<Value> replaceFar(ScalarBuilder &s, Value far, mlir::ValueRange near,
                                    llvm::function_ref<llvm::SmallVector<Value>()> slow);
/// Whether a bit of the quadrant is set.
Value bitSet(ScalarBuilder &s, Value quadrant, int64_t bit);

inline Value widen(ScalarBuilder &s, Value x) { return s.to<mlir::arith::ExtFOp>(x, s.b.getF64Type()); }
inline Value narrow(ScalarBuilder &s, Value x) { return s.to<mlir::arith::TruncFOp>(x, s.b.getF32Type()); }

/// Adding it to a small f32 (or f64) rounds to the nearest integer and leaves that in the low bits.
inline constexpr double kRound32 = 0x1.8p23, kRound64 = 0x1.8p52;
/// ln 2 in two parts; the first has 40 bits, so its multiples below 2^13 are exact.
inline constexpr double kLn2High64 = 0x1.62e42fefa2000p-1, kLn2Low64 = 0x1.9ef35793c7673p-41;
inline constexpr int64_t kRound32Bits = 0x4b400000, kRound64Bits = 0x4338000000000000;

} // namespace sprig::expand
