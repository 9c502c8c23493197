// Convolutions and transposed ones as products of matrices: a filter's rows times the elements that windows see. For
// the emitter, and for who lays filters out for it; both go by shapes alone.
#pragma once
#include "lib/Target/CUDA/Kernels/Contraction/TileProduct.h"
#include "mlir/IR/Operation.h"

namespace sprig::cuda {

/// One dimension of the windows. Result positions whose number is the same modulo the number of phases are a phase:
/// number phases.size() * m + p reads, at tap i of its own, the operand at m * step + shift + i * dilation, if that is
/// there, with the filter's tap firstTap + i * tapStep.
struct WindowDim {
  struct Phase {
    int64_t shift = 0, firstTap = 0, taps = 0;
  };
  int64_t inputs, outputs, window; // sizes of the operand, the result and the filter
  int64_t step, dilation, tapStep;
  llvm::SmallVector<Phase, 1> phases;

  /// Of a convolution.
  static WindowDim plain(int64_t inputs, int64_t outputs, int64_t window, int64_t stride, int64_t dilation,
                         int64_t low);
  static WindowDim transposed(int64_t inputs, int64_t outputs, int64_t window, int64_t stride, int64_t dilation,
                              int64_t low);

  int64_t positions() const { return llvm::divideCeil(outputs, int64_t(phases.size())); }
  /// Of the phase that has the most.
  int64_t taps() const;
  /// Whether each tap of each phase lies in the operand, wherever the window is.
  bool isInside() const;
};

/// The product of a group and a phase: rows are the group's results, columns samples and positions, and a step is a
/// channel of a tap: taps in row-major order, the channels of each in `channelsOfTap` steps.
struct ConvForm {
  /// None for what is no convolution of nn in the model's layout whose places 32 bits can count.
  static std::optional<ConvForm> of(mlir::Operation *op);

  int64_t samples, groups;
  int64_t rows, channels; // of a group
  llvm::SmallVector<WindowDim> dims;
  /// Distances in the filter's memory, in elements.
  struct {
    int64_t group, row, channel;
    llvm::SmallVector<int64_t> taps;
  } filter;

  TileShape tile; // of products in f32
  int64_t channelsOfTap;
  /// Fills the channels of taps up to a multiple of so many steps, if at most an eighth of all is padding then.
  bool fillTaps(int64_t steps);
  /// Whether there are so few blocks of the tile, and these so small, that a thread has many registers for itself.
  bool hasRegisters() const;
  /// Whether slices of so many steps lie in one tap each.
  bool isOfTap(int64_t steps) const { return channelsOfTap % steps == 0; }

  int64_t taps() const;
  int64_t depth() const { return taps() * channelsOfTap; }
  int64_t phases() const;
  /// Samples, and positions of each dimension.
  llvm::SmallVector<int64_t> columnSizes() const;
  int64_t columns() const;
  /// Tiles of these sizes, by phases of each dimension, groups, rows and columns.
  llvm::SmallVector<int64_t> tiles(int64_t tileRows, int64_t tileColumns) const;
  bool isInside() const;
  /// Whether the filter's rows lie side by side in memory, else its steps do; whether four neighbours can be read at
  /// once; the same of columns in the operand.
  bool hasRowsInner() const { return filter.row == 1; }
  bool isFilterWide() const;
  bool isInputWide() const;
  /// How many products tiles of these sizes compute, in slices that are filled up to so many steps, for each one that
  /// somebody wants; none where there are too few of these for tiles.
  std::optional<double> waste(int64_t tileRows, int64_t tileColumns, int64_t steps) const;
  /// Whether tiles in f32 take less time than a thread for each element, by a model of instructions.
  bool isWorthTiles() const;

private:
  void chooseSlices();
};

/// A filter that lies in memory as [window..., second, first], by its first two dimensions, or [window..., first,
/// second]: how a transpose sees it.
llvm::SmallVector<int64_t> filterPermutation(int64_t rank, bool isFirstInner);
/// Whether an operation is the transpose through which a convolution sees such a filter.
bool isFilterView(mlir::Operation *op, mlir::Operation *convolution);
/// The filter as it lies in memory: what the transpose sees, else the convolution's operand.
mlir::Value storedFilter(mlir::Operation *convolution);

} // namespace sprig::cuda
