// Elements that a boolean mask picks, and where they are. For programs.
// How many there are is known only when the mask has run, and shapes are known before: so a bound is given, the count
// is a tensor, and more than the bound is an error when it runs. where(), maskedFill() and assign(x, {mask}, value)
// need no bound. All of it works in compile() and has gradients.
#pragma once
#include "sprig/tensor.h"

namespace sprig {

/// Where a tensor is not zero.
struct Nonzero {
  Tensor indices; ///< [bound, axes of x], i64, row-major; from row `count` on `fill`
  Tensor count;   ///< i64
};
/// The positions of what is not zero (of booleans: what is true), at most `bound`; x has an axis or more. A fill of -1,
/// given to gather(), is the last element: hide it by the count.
SPRIG_API Nonzero nonzero(const Operand &x, int64_t bound, int64_t fill = -1);

/// What a mask has picked.
struct Selected {
  Tensor values; ///< [bound]; from `count` on the fill
  Tensor count;  ///< i64
};
/// The elements of x where the mask is true, row-major, at most `bound`: PyTorch's masked_select and x[mask]. x and
/// mask broadcast; the fill is a scalar, 0 where it is not given.
SPRIG_API Selected maskedSelect(const Operand &x, const Operand &mask, int64_t bound, const Operand &fill = {});

/// x with its masked elements replaced by the first elements of source, in order: PyTorch's masked_scatter and x[mask]
/// = source. The mask broadcasts to x; source is of x's element type and has as many elements as the mask picks, or
/// more: fewer are an error when it runs.
[[nodiscard]] SPRIG_API Tensor maskedScatter(const Operand &x, const Operand &mask, const Operand &source);

} // namespace sprig
