// Rows of a convolution's input with their padding, copied to scratch memory: for kernels whose tiles want the same
// taps at every column. Of one sample, one group and one plane of depth.
#pragma once
#include "lib/Target/CPU/Kernels/Convolution/ConvGeometry.h"

namespace sprig::cpu {

class PaddedRows {
public:
  /// Those that `height` rows of the result read; `channels` of a group.
  PaddedRows(const ConvGeometry &geometry, int64_t channels, int64_t height);

  /// Where they are worth copying: some padding in width, no depth, and for one row no more than stays near the core;
  /// and for how many of `height` rows of the result that holds.
  static bool areFor(const ConvGeometry &geometry, int64_t channels);
  static int64_t together(const ConvGeometry &geometry, int64_t channels, int64_t height);

  int64_t bytes() const { return rows * rowBytes(); }
  int64_t rowBytes() const { return columns * channels; }
  /// Copies the rows for the result's rows [begin, end); what lies above or below the input is left out. `input`,
  /// `target`: 1-d buffers of bytes.
  void copy(KernelBuilder &kernel, mlir::Value input, mlir::Value target, mlir::Value sample, mlir::Value firstChannel,
            mlir::Value begin, mlir::Value end) const;
  /// Where the input of tap (height, 0) of result row `height` lies, `height` counted from the first one copied.
  mlir::Value at(KernelBuilder &kernel, mlir::Value height, mlir::Value tapHeight) const;

private:
  const ConvGeometry &g;
  int64_t channels, rows, columns;
};

} // namespace sprig::cpu
