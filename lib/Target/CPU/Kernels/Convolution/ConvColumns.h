// Convolutions whose result has one channel: vectors run over its columns.
// For the emitters of kernel.conv_depthwise and kernel.conv_packed. Order of sums and padding are those of nn.conv.
#pragma once
#include "lib/Target/CPU/Kernels/Convolution/ConvGeometry.h"
#include "lib/Target/CPU/Kernels/Elementwise/Epilogue.h"

namespace sprig::cpu {

/// Rows of the input are copied with their padding in width, channel by channel, so that what vectors read lies side by
/// side: as many as the window spans. From one row of the result to the next they stay, but for those that come new.
/// What vectors read of the padding is left out of their sums. A single channel without padding in width is read where
/// it is.
class ConvColumns {
public:
  /// `result` [N, spatial..., O]
  ConvColumns(const ConvGeometry &geometry, mlir::RankedTensorType result);

  /// Whether this kernel can have the convolution, and is the quicker one.
  bool areWorthIt() const;

  KernelPlan plan(const Epilogue &epilogue) const;

  /// Where weights lie: that of tap t and input channel c at (t * C + c) * `step`.
  struct Weights {
    mlir::Value buffer;
    int64_t step;
  };
  void emit(KernelBuilder &kernel, Epilogue epilogue, mlir::Value input, Weights weights) const;

private:
  friend class ConvColumnsKernel;

  bool copiesRows() const { return g.hasPadding(2) || g.inputChannels > 1; }
  /// Rows of the input from the first to the last one that a row of the result reads, at a tap in depth.
  int64_t spannedRows() const { return (g.window[1] - 1) * g.dilation[1] + 1; }
  /// A multiple of kLanes: the padding, the input's row, and as far as the last vector reads.
  int64_t rowLength() const;
  int64_t copiedElements() const { return g.window[0] * spannedRows() * g.inputChannels * rowLength(); }
  int64_t scratchBytes() const;

  ConvGeometry g;
  int64_t outputs;
  mlir::Type elementType;
  ChannelTiles tiles;
};

} // namespace sprig::cpu
