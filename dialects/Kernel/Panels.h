// How the right side of a product lies in panels: a row after the other; of bytes and of bf16 whose sums are wider,
// four or two rows side by side, as instructions want them that add up as many products at once. One layout for all
// instruction sets.
#pragma once
#include "dialects/NN/SumOrder.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/MathExtras.h"

namespace sprig::kernel {

/// Rows that lie side by side in a panel of such factors: what an instruction takes of them in 32 bits.
inline int64_t interleaveOf(mlir::Type factor) { return 32 / int64_t(factor.getIntOrFloatBitWidth()); }
/// Rows that do so in panels of a shape: those of plain ones have three dimensions.
inline int64_t interleaveIn(llvm::ArrayRef<int64_t> panels) { return panels.size() == 4 ? panels.back() : 1; }

/// Elements of a channels-last input that lie side by side and that a convolution's window takes together.
inline int64_t runLength(int64_t channels, int64_t groups, llvm::ArrayRef<int64_t> window,
                         llvm::ArrayRef<int64_t> dilations) {
  return groups == 1 && dilations.back() == 1 ? window.back() * channels : channels / groups;
}

/// Where rows and columns lie in a panel of `depth` rows, which come in runs, each filled up to whole interleaved rows.
struct PanelPlaces {
  int64_t depth, run, interleave = 1;

  int64_t runRows() const { return llvm::divideCeil(run, interleave); }
  /// The panel's second dimension.
  int64_t rows() const { return depth / run * runRows(); }
  /// Its elements.
  int64_t size() const { return rows() * kPanelWidth * interleave; }
  int64_t at(int64_t k, int64_t column) const {
    int64_t inRun = k % run, row = k / run * runRows() + inRun / interleave;
    return (row * kPanelWidth + column) * interleave + inRun % interleave;
  }
};

/// Where the taps of one filter for each channel lie (kernel.conv_depthwise_dot): those `above` each other side by
/// side, `width` of them in a row of the window.
struct DepthwisePlaces {
  static constexpr int64_t kTogether = 4, kChannels = 16;
  int64_t above, width, channels;

  static DepthwisePlaces get(llvm::ArrayRef<int64_t> window, int64_t channels) {
    int64_t above = 1;
    for (int64_t size : window.drop_back()) above *= size;
    return {above, window.back(), channels};
  }
  int64_t rows() const { return llvm::divideCeil(above, kTogether); }
  int64_t paddedChannels() const { return llvm::divideCeil(channels, kChannels) * kChannels; }
  llvm::SmallVector<int64_t> shape() const { return {rows(), width, paddedChannels(), kTogether}; }
  int64_t at(int64_t tapAbove, int64_t tap, int64_t channel) const {
    return ((tapAbove / kTogether * width + tap) * paddedChannels() + channel) * kTogether + tapAbove % kTogether;
  }
};

/// Where codes of 4 or 8 bits lie in a panel of bytes: in words of 32 bits, each of neighbouring rows of a column. Byte
/// j holds row j in its low bits and, of four bits, row 4 + j above them, so that one mask leaves bytes of four rows.
struct NarrowPlaces {
  int64_t depth, bits;

  int64_t wordRows() const { return 32 / bits; }
  int64_t words() const { return llvm::divideCeil(depth, wordRows()); }
  /// The panel's bytes.
  int64_t size() const { return words() * kPanelWidth * 4; }
  int64_t byteAt(int64_t k, int64_t column) const { return (k / wordRows() * kPanelWidth + column) * 4 + k % 4; }
  /// Where the row's code begins in its byte.
  int64_t shiftOf(int64_t k) const { return k % wordRows() / 4 * bits; }
};

} // namespace sprig::kernel
