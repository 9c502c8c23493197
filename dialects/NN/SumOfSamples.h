// Which sums of floats over the first dimension and others are taken for each index of the first, and these results
// added up: the rule of docs/numerics.md, for whoever computes nn.reduce. No MLIR.
#pragma once
#include <bit>
#include <cstdint>

namespace sprig::ir {

/// Whether a sum along `axes` (ascending) of a tensor of this shape is that of its samples' sums: one over the first
/// dimension of at least two and others of at least 32 elements, of more than 1024 for a result and of 16384 in all,
/// where each size counts as the next power of two: so all lengths of a program for a range of them (docs/lengths.md)
/// are summed alike. For f32 and f64; half types, which would round each sample's sum, are summed at once.
template <typename Sizes, typename Axes> bool isSumOfSamples(const Sizes &shape, const Axes &axes) {
  constexpr int64_t kLeastPositions = 32, kLongest = 1024, kLeastElements = 16384;
  if (axes.size() < 2 || axes[0] != 0 || shape[0] < 2) return false;
  auto rounded = [](int64_t size) { return int64_t(std::bit_ceil(uint64_t(size))); };
  int64_t positions = 1, elements = 1;
  for (int64_t axis : axes) positions *= axis == 0 ? 1 : rounded(shape[axis]);
  for (int64_t size : shape) {
    if (size == 0) return false;
    elements *= rounded(size);
  }
  return positions >= kLeastPositions && positions * rounded(shape[0]) > kLongest && elements >= kLeastElements;
}

} // namespace sprig::ir
