// Reductions over axes, running sums, order. For programs.
// Axes: one number or a list, negative ones count from the end, none means all. Reduced axes disappear, or stay with
// size 1 where keepDims. The order of additions is fixed (docs/numerics.md), so the bits are the same everywhere.
#pragma once
#include "sprig/index.h"

namespace sprig {

/// Sums of integers and booleans are i64, as in PyTorch.
SPRIG_API Tensor sum(const Operand &x, const Ints &axes = {}, bool keepDims = false);
/// Floats only.
SPRIG_API Tensor mean(const Operand &x, const Ints &axes = {}, bool keepDims = false);
SPRIG_API Tensor prod(const Operand &x, const Ints &axes = {}, bool keepDims = false);
/// The largest element (PyTorch's amax); NaN if there is one. An axis of size 0 is an error.
SPRIG_API Tensor max(const Operand &x, const Ints &axes = {}, bool keepDims = false);
SPRIG_API Tensor min(const Operand &x, const Ints &axes = {}, bool keepDims = false);
/// Whether any element is not zero. all(x, axes, keepDims), of sprig/index.h: whether none is zero.
SPRIG_API Tensor any(const Operand &x, const Ints &axes = {}, bool keepDims = false);
/// The index (i64) of the first largest element along an axis.
SPRIG_API Tensor argmax(const Operand &x, int axis = -1, bool keepDims = false);
SPRIG_API Tensor argmin(const Operand &x, int axis = -1, bool keepDims = false);
/// Mean square of the distance from the mean, times n / (n - correction).
SPRIG_API Tensor var(const Operand &x, const Ints &axes = {}, double correction = 1, bool keepDims = false);
/// The root of var: PyTorch's std.
SPRIG_API Tensor stdDev(const Operand &x, const Ints &axes = {}, double correction = 1, bool keepDims = false);
/// log(sum(exp(x))), without overflow.
SPRIG_API Tensor logsumexp(const Operand &x, const Ints &axes = {}, bool keepDims = false);
/// (sum |x|^p)^(1/p); p may be infinity.
SPRIG_API Tensor norm(const Operand &x, double p = 2, const Ints &axes = {}, bool keepDims = false);
/// x / max(norm(x, p, axis), epsilon).
SPRIG_API Tensor normalize(const Operand &x, double p = 2, int axis = 1, double epsilon = 1e-12);
/// The cosine of the angle between a and b along an axis; norms are at least epsilon.
SPRIG_API Tensor cosineSimilarity(const Operand &a, const Operand &b, int axis = 1, double epsilon = 1e-8);

/// Running sums and products along an axis; of integers and booleans i64.
SPRIG_API Tensor cumsum(const Operand &x, int axis);
SPRIG_API Tensor cumprod(const Operand &x, int axis);

/// Values and where they were (i64).
struct Sorted {
  Tensor values, indices;
};
/// The k largest (or smallest) along an axis, in order; equal ones in the order of their indices.
SPRIG_API Sorted topk(const Operand &x, int64_t k, int axis = -1, bool largest = true);
/// The lower of the middle ones along an axis, and where it was, as PyTorch's; a NaN if there is one.
SPRIG_API Sorted median(const Operand &x, int axis, bool keepDims = false);
/// Of all elements.
SPRIG_API Tensor median(const Operand &x);
/// Between two elements: a straight line, the lower, the higher, the nearer one (the one at an even position where both
/// are as near), or their middle.
enum class Quantile { linear, lower, higher, nearest, midpoint };
/// The value below which a share q, in [0, 1], of the elements along an axis lies; a NaN if there is one. Floats only.
SPRIG_API Tensor quantile(const Operand &x, double q, int axis, bool keepDims = false,
                          Quantile between = Quantile::linear);
/// Of all elements.
SPRIG_API Tensor quantile(const Operand &x, double q, Quantile between = Quantile::linear);
/// Several shares, along a new first axis.
SPRIG_API Tensor quantile(const Operand &x, const std::vector<double> &q, int axis, bool keepDims = false,
                          Quantile between = Quantile::linear);
/// Stable: equal elements keep their order.
SPRIG_API Sorted sort(const Operand &x, int axis = -1, bool descending = false);
SPRIG_API Tensor argsort(const Operand &x, int axis = -1, bool descending = false);

} // namespace sprig
