// A shape as what is before, along and after an axis.
#pragma once
#include "sprig/dtype.h"

namespace sprig::frontend::generic {

struct AxisView {
  int64_t outer = 1, length = 1, inner = 1;
  AxisView(const Shape &shape, int axis) : length(shape[axis]) {
    for (int d = 0; d < axis; ++d) outer *= shape[d];
    for (int d = axis + 1; d < shape.rank(); ++d) inner *= shape[d];
  }
  /// Calls f with the offset of the first element of each line along the axis, in row-major order of the others.
  template <typename F> void forLines(F f) const {
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < inner; ++i) f(o * length * inner + i);
  }
};

} // namespace sprig::frontend::generic
