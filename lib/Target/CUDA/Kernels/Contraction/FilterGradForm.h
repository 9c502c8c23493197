// Gradients of filters as products of matrices: rows are the cotangent's channels, columns the filter's channels and
// taps, and steps samples and positions. For the emitter, and for who cuts long ones into parts.
#pragma once
#include "lib/Target/CUDA/Kernels/Contraction/ConvForm.h"

namespace sprig::cuda {

/// One product for each group; of parts, for each group and part.
struct FilterGradForm {
  /// None for what is neither nn.conv_filter_grad nor its parts, in f32 and the model's layout, whose places 32 bits
  /// can count.
  static std::optional<FilterGradForm> of(mlir::Operation *op);
  /// Of the parts of a gradient.
  FilterGradForm cut() const;

  bool inParts;
  int64_t groups, rows;
  llvm::SmallVector<int64_t> columnSizes; // channels of a group, taps of each dimension
  llvm::SmallVector<int64_t> stepSizes;   // samples, positions of each dimension
  llvm::SmallVector<WindowDim> dims;
  TileShape tile;

  int64_t columns() const { return llvm::product_of(columnSizes); }
  int64_t depth() const { return llvm::product_of(stepSizes); }
  int64_t positions() const { return depth() / stepSizes[0]; }
  /// Chains with a result of their own: 1 where the sum of all is taken.
  int64_t parts() const;
  bool isInside() const;
  /// Tiles of these sizes, by parts, groups, rows and columns.
  llvm::SmallVector<int64_t> tiles(int64_t tileRows, int64_t tileColumns) const;
  /// Whether four steps can be read at once.
  bool isCotangentWide() const { return positions() % 4 == 0; }
  bool isInputWide() const;
  /// How many products tiles of these sizes compute, in slices that are filled up to so many steps.
  double computed(int64_t tileRows, int64_t tileColumns, int64_t steps) const;
  static constexpr double kLeastProducts = 1 << 14;
  double products() const { return double(groups) * double(rows) * double(columns()) * double(depth()); }
  /// Of all threads, by a model.
  double instructions() const;
  /// Whether tiles take less time than a thread for each element, by a model of instructions. Of parts they always are
  /// what computes them.
  bool isWorthTiles() const;

private:
  void choose();
};

} // namespace sprig::cuda
