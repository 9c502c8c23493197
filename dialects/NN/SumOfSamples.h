// Which sums of floats over the first dimension and others are taken for each index of the first, and these results
// added up: the rule of docs/numerics.md, for whoever computes nn.reduce on a CPU. No MLIR.
#pragma once
#include <cstdint>

namespace sprig::ir {

/// Whether a sum along `axes` (ascending) of a tensor of this shape is that of its samples' sums: one over the first
/// dimension of at least two and others of at least 8 elements, of more than 1024 for a result and of 16384 in all.
/// For f32 and f64; half types, which would round each sample's sum, are summed at once.
template <typename Sizes, typename Axes> bool isSumOfSamples(const Sizes &shape, const Axes &axes) {
  constexpr int64_t kLeastPositions = 8, kLongest = 1024, kLeastElements = 16384;
  if (axes.size() < 2 || axes[0] != 0 || shape[0] < 2) return false;
  int64_t summed = 1, elements = 1;
  for (int64_t axis : axes) summed *= shape[axis];
  for (int64_t size : shape) elements *= size;
  return summed / shape[0] >= kLeastPositions && summed > kLongest && elements >= kLeastElements;
}

} // namespace sprig::ir
