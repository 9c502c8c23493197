// Operations on each element: arithmetic, comparisons, mathematics, activations.
// For programs. Operands are tensors, parameters or numbers and broadcast by NumPy's rules; every operation throws
// sprig::Error with the caller's line where shapes or types do not fit. The result's element type is PyTorch's:
// booleans give way to integers, integers to floats, smaller types to larger ones; a scalar tensor gives way to tensors
// with dimensions and a number to every tensor of its kind. Half types are computed in f32 and rounded once.
#pragma once
#include "sprig/tensor.h"
#include <limits>

namespace sprig {

// Arithmetic. Integers wrap. Of booleans, + is "or" and * is "and".
SPRIG_API Tensor add(const Operand &a, const Operand &b);
SPRIG_API Tensor sub(const Operand &a, const Operand &b);
SPRIG_API Tensor mul(const Operand &a, const Operand &b);
/// The true quotient: of integers it is f32. See floorDivide.
SPRIG_API Tensor div(const Operand &a, const Operand &b);
/// The quotient rounded down (Python's //), of the operands' type. Integers: division by zero is an error when it runs.
SPRIG_API Tensor floorDivide(const Operand &a, const Operand &b);
/// a - floor(a / b) * b, with the sign of b, as PyTorch's % (not C's). Integers: by zero is an error when it runs.
SPRIG_API Tensor remainder(const Operand &a, const Operand &b);
/// The remainder with the sign of a: C's fmod.
SPRIG_API Tensor fmod(const Operand &a, const Operand &b);
/// Integers multiply and wrap.
SPRIG_API Tensor pow(const Operand &base, const Operand &exponent);
/// The larger one; NaN if either is.
SPRIG_API Tensor maximum(const Operand &a, const Operand &b);
SPRIG_API Tensor minimum(const Operand &a, const Operand &b);
SPRIG_API Tensor neg(const Operand &x);

inline Tensor operator+(const Operand &a, const Operand &b) { return add(a, b); }
inline Tensor operator-(const Operand &a, const Operand &b) { return sub(a, b); }
inline Tensor operator*(const Operand &a, const Operand &b) { return mul(a, b); }
inline Tensor operator/(const Operand &a, const Operand &b) { return div(a, b); }
inline Tensor operator%(const Operand &a, const Operand &b) { return remainder(a, b); }
inline Tensor operator-(const Operand &x) { return neg(x); }
// These give the handle a new version; other handles keep the old one.
inline Tensor &operator+=(Tensor &a, const Operand &b) { return a = add({a, b.at}, b); }
inline Tensor &operator-=(Tensor &a, const Operand &b) { return a = sub({a, b.at}, b); }
inline Tensor &operator*=(Tensor &a, const Operand &b) { return a = mul({a, b.at}, b); }
inline Tensor &operator/=(Tensor &a, const Operand &b) { return a = div({a, b.at}, b); }

// Comparisons give booleans; with NaN only `ne` holds.
SPRIG_API Tensor eq(const Operand &a, const Operand &b);
SPRIG_API Tensor ne(const Operand &a, const Operand &b);
SPRIG_API Tensor lt(const Operand &a, const Operand &b);
SPRIG_API Tensor le(const Operand &a, const Operand &b);
SPRIG_API Tensor gt(const Operand &a, const Operand &b);
SPRIG_API Tensor ge(const Operand &a, const Operand &b);
inline Tensor operator==(const Operand &a, const Operand &b) { return eq(a, b); }
inline Tensor operator!=(const Operand &a, const Operand &b) { return ne(a, b); }
inline Tensor operator<(const Operand &a, const Operand &b) { return lt(a, b); }
inline Tensor operator<=(const Operand &a, const Operand &b) { return le(a, b); }
inline Tensor operator>(const Operand &a, const Operand &b) { return gt(a, b); }
inline Tensor operator>=(const Operand &a, const Operand &b) { return ge(a, b); }

// Logic. What is no boolean counts as "not zero". && and || always evaluate both sides.
SPRIG_API Tensor logicalAnd(const Operand &a, const Operand &b);
SPRIG_API Tensor logicalOr(const Operand &a, const Operand &b);
SPRIG_API Tensor logicalXor(const Operand &a, const Operand &b);
SPRIG_API Tensor logicalNot(const Operand &x);
inline Tensor operator&&(const Operand &a, const Operand &b) { return logicalAnd(a, b); }
inline Tensor operator||(const Operand &a, const Operand &b) { return logicalOr(a, b); }
inline Tensor operator!(const Operand &x) { return logicalNot(x); }
// Bits of integers, or logic of booleans; floats are refused.
SPRIG_API Tensor bitwiseAnd(const Operand &a, const Operand &b);
SPRIG_API Tensor bitwiseOr(const Operand &a, const Operand &b);
SPRIG_API Tensor bitwiseXor(const Operand &a, const Operand &b);
SPRIG_API Tensor bitwiseNot(const Operand &x);
SPRIG_API Tensor bitwiseLeftShift(const Operand &a, const Operand &b);
SPRIG_API Tensor bitwiseRightShift(const Operand &a, const Operand &b);

/// a where the condition holds, else b. The condition is boolean; all three broadcast.
SPRIG_API Tensor where(const Operand &condition, const Operand &a, const Operand &b);
/// x, but `value` where the mask holds.
SPRIG_API Tensor maskedFill(const Operand &x, const Operand &mask, const Operand &value);
/// x bounded to [low, high]; NaN stays NaN.
SPRIG_API Tensor clamp(const Operand &x, const Operand &low, const Operand &high);
SPRIG_API Tensor clampMin(const Operand &x, const Operand &low);
SPRIG_API Tensor clampMax(const Operand &x, const Operand &high);
/// a + weight * (b - a).
SPRIG_API Tensor lerp(const Operand &a, const Operand &b, const Operand &weight);
/// The angle of the point (x, y), in (-pi, pi].
SPRIG_API Tensor atan2(const Operand &y, const Operand &x);

/// The same numbers in another element type. Floats round to nearest even, float to integer truncates (saturating, NaN
/// to 0), integers wrap, to boolean: not equal to zero.
SPRIG_API Tensor cast(const Operand &x, DType type);
/// The same value, through which no gradient flows.
SPRIG_API Tensor stopGradient(const Operand &x);

// Of each element. Integers and booleans become f32 first, but for abs, neg, sign, square and what rounds.
SPRIG_API Tensor abs(const Operand &x);
SPRIG_API Tensor sign(const Operand &x);
SPRIG_API Tensor square(const Operand &x);
SPRIG_API Tensor floor(const Operand &x);
SPRIG_API Tensor ceil(const Operand &x);
SPRIG_API Tensor round(const Operand &x); ///< halves to even
SPRIG_API Tensor trunc(const Operand &x);
SPRIG_API Tensor frac(const Operand &x); ///< x - trunc(x)
SPRIG_API Tensor exp(const Operand &x);
SPRIG_API Tensor expm1(const Operand &x);
SPRIG_API Tensor exp2(const Operand &x);
SPRIG_API Tensor log(const Operand &x);
SPRIG_API Tensor log1p(const Operand &x);
SPRIG_API Tensor log2(const Operand &x);
SPRIG_API Tensor log10(const Operand &x);
SPRIG_API Tensor sqrt(const Operand &x);
SPRIG_API Tensor rsqrt(const Operand &x);
SPRIG_API Tensor reciprocal(const Operand &x);
SPRIG_API Tensor sin(const Operand &x);
SPRIG_API Tensor cos(const Operand &x);
SPRIG_API Tensor tan(const Operand &x);
SPRIG_API Tensor asin(const Operand &x);
SPRIG_API Tensor acos(const Operand &x);
SPRIG_API Tensor atan(const Operand &x);
SPRIG_API Tensor sinh(const Operand &x);
SPRIG_API Tensor cosh(const Operand &x);
SPRIG_API Tensor tanh(const Operand &x);
SPRIG_API Tensor asinh(const Operand &x);
SPRIG_API Tensor acosh(const Operand &x);
SPRIG_API Tensor atanh(const Operand &x);
SPRIG_API Tensor erf(const Operand &x);
SPRIG_API Tensor erfc(const Operand &x); ///< 1 - erf(x)
struct CloseOptions {
  double rtol = 1e-5, atol = 1e-8;
  bool equalNan = false; ///< whether two NaN are close
};
/// |a - b| <= atol + rtol |b| of each element, and what is equal, infinities too. Both broadcast; integers are compared
/// in f64.
SPRIG_API Tensor isclose(const Operand &a, const Operand &b, const CloseOptions &options = {});
/// Whether all are: a boolean scalar, allclose(a, b).item<bool>().
SPRIG_API Tensor allclose(const Operand &a, const Operand &b, const CloseOptions &options = {});
SPRIG_API Tensor isNan(const Operand &x);
SPRIG_API Tensor isInf(const Operand &x);
SPRIG_API Tensor isFinite(const Operand &x);

// Activations; floats only.
SPRIG_API Tensor relu(const Operand &x); ///< integers as well
SPRIG_API Tensor relu6(const Operand &x);
SPRIG_API Tensor sigmoid(const Operand &x);
SPRIG_API Tensor logSigmoid(const Operand &x);
SPRIG_API Tensor silu(const Operand &x);
SPRIG_API Tensor mish(const Operand &x);
enum class Gelu { erf, tanh };
/// x * Phi(x), exactly or by the tanh approximation (arXiv:1606.08415).
SPRIG_API Tensor gelu(const Operand &x, Gelu form = Gelu::erf);
SPRIG_API Tensor elu(const Operand &x, double alpha = 1);
SPRIG_API Tensor celu(const Operand &x, double alpha = 1);
SPRIG_API Tensor selu(const Operand &x); ///< arXiv:1706.02515
SPRIG_API Tensor leakyRelu(const Operand &x, double negativeSlope = 0.01);
/// x where positive, else slope * x; the slope is one number or one for each channel (axis 1).
SPRIG_API Tensor prelu(const Operand &x, const Operand &slope);
/// log(1 + exp(beta x)) / beta, and x itself where beta x exceeds the threshold.
SPRIG_API Tensor softplus(const Operand &x, double beta = 1, double threshold = 20);
SPRIG_API Tensor softsign(const Operand &x);
SPRIG_API Tensor hardSigmoid(const Operand &x); ///< max(0, min(1, x / 6 + 1 / 2))
SPRIG_API Tensor hardSwish(const Operand &x);
SPRIG_API Tensor hardTanh(const Operand &x, double low = -1, double high = 1);
SPRIG_API Tensor hardShrink(const Operand &x, double lambda = 0.5);
SPRIG_API Tensor softShrink(const Operand &x, double lambda = 0.5);
SPRIG_API Tensor tanhShrink(const Operand &x); ///< x - tanh(x)
/// x where above the threshold, else value.
SPRIG_API Tensor threshold(const Operand &x, double threshold, double value);
/// The halves of an axis: the first times the sigmoid of the second.
SPRIG_API Tensor glu(const Operand &x, int axis = -1);

/// Exponentials that sum to 1 along the axis, without overflow.
SPRIG_API Tensor softmax(const Operand &x, int axis);
SPRIG_API Tensor logSoftmax(const Operand &x, int axis);
/// softmax(-x).
SPRIG_API Tensor softmin(const Operand &x, int axis);

} // namespace sprig
