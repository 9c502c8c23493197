// Sliding windows over spatial dimensions, for pools and convolutions.
// Positions and taps count in row-major order; a tap may lie in the padding, where it reads nothing.
#pragma once
#include "lib/Interpreter/Compare.h"
#include "lib/Interpreter/Evaluation.h"

namespace sprig::interp {

struct Window {
  llvm::SmallVector<int64_t> input, output, window, strides, dilations, low;

  int64_t inputs() const { return product(input); }
  int64_t positions() const { return product(output); }
  int64_t taps() const { return product(window); }

  /// The input coordinate in dimension `d` of a tap at an output position; may lie outside.
  int64_t coordinate(int64_t d, int64_t position, int64_t tap) const {
    return position * strides[d] + tap * dilations[d] - low[d];
  }
  /// Calls body(output position, tap, input position) for each pair whose tap lies in the input, taps ascending for
  /// each position.
  template <typename Body> void forEachTap(Body body) const { forEachTap(0, positions(), body); }
  /// Of `count` output positions from the first on.
  template <typename Body> void forEachTap(int64_t first, int64_t count, Body body) const {
    int64_t rank = input.size(), tapCount = taps();
    llvm::SmallVector<int64_t> at(rank, 0), tap(rank);
    if (first > 0) at = coordinates(first, output);
    for (int64_t p = first; p < first + count; ++p) {
      std::fill(tap.begin(), tap.end(), 0);
      for (int64_t t = 0; t < tapCount; ++t) {
        int64_t offset = 0;
        bool inside = true;
        for (int64_t d = 0; d < rank && inside; ++d) {
          int64_t x = coordinate(d, at[d], tap[d]);
          inside = x >= 0 && x < input[d];
          offset = offset * input[d] + x;
        }
        if (inside) body(p, t, offset);
        advance(tap, window);
      }
      advance(at, output);
    }
  }
  static void advance(llvm::SmallVectorImpl<int64_t> &index, llvm::ArrayRef<int64_t> shape) {
    for (int64_t d = int64_t(shape.size()) - 1; d >= 0 && ++index[d] == shape[d]; --d) index[d] = 0;
  }
};

inline llvm::ArrayRef<int64_t> spatial(llvm::ArrayRef<int64_t> shape, bool channelsLast) {
  return channelsLast ? shape.drop_front().drop_back() : shape.drop_front(2);
}

/// How an operation slides a window over the spatial dimensions of its shapes.
template <typename OpT>
Window windowOf(OpT op, llvm::ArrayRef<int64_t> input, llvm::ArrayRef<int64_t> output, llvm::ArrayRef<int64_t> window,
                bool channelsLast) {
  return {llvm::to_vector(spatial(input, channelsLast)),
          llvm::to_vector(spatial(output, channelsLast)),
          llvm::to_vector(window),
          llvm::to_vector(op.getStrides()),
          llvm::to_vector(op.getDilations()),
          llvm::to_vector(op.getPadding().take_front(window.size()))};
}

} // namespace sprig::interp
