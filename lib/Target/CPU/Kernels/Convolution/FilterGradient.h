// The gradient of a channels-last convolution's filter, cut into tiles of some rows (channels with all of their taps)
// times one panel of outputs, in parts also by the pieces of its positions. For the emitter, which computes a tile in
// scratch memory and stores it turned round, and for the pass that chooses between the two.
#pragma once
#include "dialects/NN/NNContraction.h"
#include "lib/Target/CPU/Kernels/Convolution/ConvGeometry.h"
#include "lib/Target/CPU/Kernels/Elementwise/Epilogue.h"

namespace sprig::kernel {
class ConvFilterGradPartsOp;
}

namespace sprig::cpu {

/// Shapes and the cut, by shape alone. Row c * taps + t of a group is channel c at tap t; columns are outputs.
struct FilterGradient {
  ConvGeometry geometry;
  int64_t groups, channels, outputs; // the latter two of a group
  bool depthwise;                    // lanes are channels, each with one filter
  bool inParts;                      // each piece of the positions has a result of its own
  int64_t pieces;                    // that tiles are of: 1 where each has all of them
  bool flat;                         // no padding, few rows: rows of different taps share register tiles
  int64_t blockChannels, blocks;     // channels of a tile, and how many tiles they make
  int64_t panels;                    // of a group; of the channels when depthwise
  mlir::Type elementType;

  explicit FilterGradient(ir::ConvFilterGradOp op);
  explicit FilterGradient(kernel::ConvFilterGradPartsOp op);
  template <typename OpT> static constexpr bool kInParts = std::is_same_v<OpT, kernel::ConvFilterGradPartsOp>;

  int64_t taps() const { return geometry.taps(); }
  int64_t positions() const { return geometry.batch * geometry.positions(); }
  int64_t tileColumns() const;
  int64_t tiles() const;
  int64_t scratchBytes() const;
  /// Whether the chain over all positions is cut.
  bool isCut() const;

private:
  template <typename OpT> void init(OpT op);
};

} // namespace sprig::cpu
