// Fake quantisation, for training what is to run on integers. For programs.
#pragma once
#include "sprig/tensor.h"
#include <optional>

namespace sprig {

/// The integers that a quantiser may give, where they are fewer than its type has: of four bits, -7 to 7, say.
struct QuantizedRange {
  std::optional<int64_t> low, high;
};

/// (q - zeroPoint) scale, q the integer nearest to x / scale + zeroPoint (ties to even), clipped to what the type of
/// `zeroPoint` has (i8, u8, i16 or u16) and to the range: what x is once it was quantised. Scale (x's element type,
/// positive) and zero point broadcast to x. The gradient is the straight-through one, 0 where q was clipped
/// (arXiv:1712.05877); that of the scale is a learned step size's (arXiv:1902.08153), unless it is detached.
SPRIG_API Tensor fakeQuantize(const Operand &x, const Operand &scale, const Operand &zeroPoint,
                              const QuantizedRange &range = {});

} // namespace sprig
