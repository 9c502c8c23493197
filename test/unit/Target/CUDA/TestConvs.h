// Convolutions, transposed ones and gradients of filters, with an epilogue, for tests of tiles.
#pragma once
#include "test/unit/Target/CUDA/TileKernels.h"
#include <functional>

namespace sprig {

/// A gradient of a filter is that of the convolution, and has no epilogue.
struct TestConv {
  enum Kind {
    plain,
    rowsInside,
    transposed,
    transposedRowsInside,
    transposedChannelsInside,
    filterGradient,
    filterGradientParts
  };
  const char *name;
  Kind kind;
  int64_t samples, channels, height, width; // of the operand; of a gradient, of the convolution's
  int64_t outputs, window, stride, dilation, low, high, groups;
  int64_t tile = 0; // rows and columns of one, where there are more than 36
  bool tf32 = false;

  bool isTransposed() const {
    return kind == transposed || kind == transposedRowsInside || kind == transposedChannelsInside;
  }
  bool isGradient() const { return kind == filterGradient || kind == filterGradientParts; }
  /// Whether a transpose sees the filter, with the window's dimensions in front; which of the other two is the
  /// innermost.
  bool isView() const { return isFirstInside() || kind == transposedRowsInside; }
  bool isFirstInside() const { return kind == rowsInside || kind == transposedChannelsInside; }
  int64_t reach() const { return dilation * (window - 1) + 1; }
  int64_t outputSize(int64_t size) const {
    return isTransposed() ? (size - 1) * stride + reach() - low - high : (size + low + high - reach()) / stride + 1;
  }
  /// Of a gradient.
  int64_t steps() const { return samples * outputSize(height) * outputSize(width); }
};

/// relu(convolution + bias) - residual.
TileCase caseOf(const TestConv &c);

using TestFill = std::function<void(std::vector<float> &values)>;
void fillRandom(std::vector<float> &values); // in [-1, 1]
/// The operands, of which the first two are filled by `left` and `right`, and zeros for the result.
std::vector<std::vector<float>> buffersOf(const TestConv &c, const TestFill &left, const TestFill &right);
TileKernels kernelsOf(const std::vector<TestConv> &convolutions);

/// Of each result, in their order: `product` for what it adds up, in the order of its steps, of which those in the
/// padding are left out; then `end` with its channel. Results of convolutions that are not `wanted` have no products.
void forProducts(const TestConv &c, const std::vector<std::vector<float>> &x,
                 const std::function<void(int64_t step, float element, float weight)> &product,
                 const std::function<void(int64_t channel)> &end,
                 const std::function<bool(int64_t result, int64_t channel)> &wanted = {});

} // namespace sprig
