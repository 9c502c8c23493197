// Where the taps of a channels-last convolution lie, and the loops over them for one register tile.
// For the convolution emitters: they say what happens at a tap, this says which taps a row of accumulators has. Padding
// is never stored: taps in it are left out, by loop bounds over depth and height and, over width, either statically
// (edge tiles) or by loop bounds (tiles whose rows have the same taps, as samples of the batch do).
#pragma once
#include "lib/Target/CPU/Kernels/Builder/KernelBuilder.h"
#include "lib/Target/CPU/Kernels/Builder/TileRanges.h"
#include <optional>

namespace sprig::cpu {

/// A convolution of three spatial dimensions (missing ones are of size 1, in front).
struct ConvGeometry {
  int64_t batch = 1, inputChannels = 1;
  std::array<int64_t, 3> in{1, 1, 1}, out{1, 1, 1}, window{1, 1, 1}, stride{1, 1, 1}, dilation{1, 1, 1}, low{0, 0, 0};

  /// input [N, spatial..., C], result [N, spatial..., O].
  static ConvGeometry get(mlir::RankedTensorType input, mlir::RankedTensorType result, llvm::ArrayRef<int64_t> window,
                          llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> dilations,
                          llvm::ArrayRef<int64_t> padding);

  /// Elements between the inputs of neighbours in width, or of neighbouring samples.
  int64_t rowStride(bool samples) const {
    return samples ? in[0] * in[1] * in[2] * inputChannels : stride[2] * inputChannels;
  }
  int64_t positions() const { return out[0] * out[1] * out[2]; }
  int64_t taps() const { return window[0] * window[1] * window[2]; }
  /// Into how many blocks a height is cut that is one block otherwise: two, so that each of two threads has the rows
  /// that it wrote itself, where there are several for each.
  static int64_t halvesOf(int64_t height) { return height >= 4 ? 2 : 1; }
  /// One tap at every position, none of them in the padding.
  bool isPointwise() const;
  /// Whether any tap of dimension `d` can lie in the padding.
  bool hasPadding(int d) const;
  /// The output columns [first, second) that use no padding in width.
  std::pair<int64_t, int64_t> interiorColumns() const;
  /// The taps [first, second) in width that lie inside the input at an output column.
  std::pair<int64_t, int64_t> tapsAt(int64_t column) const;

  /// What tiles of a space [samples, depths, blocks of some height] read of the input, padding left out where a range
  /// can say it, and store of a result of some channels.
  llvm::SmallVector<TileStep> inputSteps(int64_t blockHeight) const;
  llvm::SmallVector<TileStep> resultSteps(int64_t blockHeight, int64_t channels) const;
  /// The same of a further dimension of the space, blocks of some columns, behind blocks of one row.
  TileStep inputColumns(int64_t blockWidth) const;
  TileStep resultColumns(int64_t blockWidth, int64_t channels) const;
};

/// What is computed for each channel by itself, in tiles of some rows of the result: about `taps` taps, a multiple of
/// `together` rows, of a height that is one block the half.
struct ChannelTiles {
  ConvGeometry geometry;
  int64_t channels, blockHeight, heightBlocks;

  ChannelTiles(const ConvGeometry &geometry, int64_t channels, int64_t taps, int64_t together = 1);
  int64_t count() const {
    return channels == 0 || geometry.positions() == 0 ? 0 : geometry.batch * geometry.out[0] * heightBlocks;
  }
  /// Calls `body` for the rows [begin, end) of a sample's depth that each tile has.
  void forTiles(
      KernelBuilder &kernel,
      llvm::function_ref<void(mlir::Value sample, mlir::Value depth, mlir::Value begin, mlir::Value end)> body) const;
  /// Samples, depths, blocks of rows.
  llvm::SmallVector<int64_t> space() const { return {geometry.batch, geometry.out[0], heightBlocks}; }
  llvm::SmallVector<TileStep> inputSteps() const { return geometry.inputSteps(blockHeight); }
  llvm::SmallVector<TileStep> resultSteps() const { return geometry.resultSteps(blockHeight, channels); }
};

/// A register tile: its rows are neighbours in width, or the same position of consecutive samples. Neighbours have all
/// taps in width inside the input (Interior), each its own (Edge), or all the same ones (Alike).
struct ConvTile {
  enum class Rows { Interior, Edge, Alike, Samples } kind = Rows::Interior;
  mlir::Value sample, depth, height, width; // of the first row
  int64_t edgeWidth = 0;                    // `width` when the kind is Edge
  int64_t rows = 1;
};

/// The taps [first, second) of dimension `d` that lie inside the input at output index `o`.
std::pair<mlir::Value, mlir::Value> tapBounds(KernelBuilder &kernel, const ConvGeometry &geometry, int d,
                                              mlir::Value o);

/// The first tap of dimension `d` that lies so far behind the first one, or further.
mlir::Value firstTapFrom(KernelBuilder &kernel, const ConvGeometry &geometry, int d, mlir::Value distance);

/// Runs over the rows of the window that lie inside the input at an output row, in row-major order. `body` takes their
/// taps in depth and height and the linear position of the input row's column 0, channels left out.
llvm::SmallVector<mlir::Value>
emitWindowRows(KernelBuilder &kernel, const ConvGeometry &geometry, mlir::Value sample, mlir::Value depth,
               mlir::Value height, mlir::ValueRange accumulators,
               llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value tapDepth, mlir::Value tapHeight,
                                                                 mlir::Value inputRow, mlir::ValueRange accumulators)>
                   body);

/// What a tap does: takes accumulators of some rows, the input position of the first of them at the tap (channel 0),
/// the distance between rows, the linear index of the tap in the window and the number of taps from there on whose
/// inputs follow each other in memory; returns the new accumulators.
using TapBody = llvm::function_ref<llvm::SmallVector<mlir::Value>(
    mlir::ValueRange accumulators, mlir::Value position, int64_t rowStride, mlir::Value tap, mlir::Value taps)>;

/// Runs over the taps of a tile in row-major order of the window. With `mergeTaps`, neighbours in width come as one.
llvm::SmallVector<mlir::Value> emitTaps(KernelBuilder &kernel, const ConvGeometry &geometry, const ConvTile &tile,
                                        bool mergeTaps, mlir::ValueRange accumulators, TapBody body);

/// Calls `body` for the register tiles, of at most `mostRows` rows, that cover one row of the result, or its columns
/// [first, second).
void forWidthTiles(KernelBuilder &kernel, const ConvGeometry &geometry, mlir::Value sample, mlir::Value depth,
                   mlir::Value height, int64_t mostRows, llvm::function_ref<void(const ConvTile &)> body,
                   std::optional<std::pair<int64_t, int64_t>> columns = std::nullopt);

/// The linear position of a tile's first row in the result, channels left out; the distance of its rows; and of all.
mlir::Value firstResultRow(KernelBuilder &kernel, const ConvGeometry &geometry, const ConvTile &tile);
int64_t resultDistance(const ConvGeometry &geometry, const ConvTile &tile);
llvm::SmallVector<mlir::Value> resultRows(KernelBuilder &kernel, const ConvGeometry &geometry, const ConvTile &tile);

} // namespace sprig::cpu
