#include "lib/Target/CPU/Kernels/Convolution/FilterGradient.h"
#include "dialects/Kernel/KernelContraction.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

/// Channels of a tile where each has a filter of its own: two lines of a position.
static constexpr int64_t kDepthwiseBlock = 2 * kLanes;

FilterGradient::FilterGradient(ir::ConvFilterGradOp op) { init(op); }
FilterGradient::FilterGradient(kernel::ConvFilterGradPartsOp op) { init(op); }

template <typename OpT> void FilterGradient::init(OpT op) {
  auto input = cast<RankedTensorType>(op.getInput().getType());
  auto cotangent = cast<RankedTensorType>(op.getCotangent().getType());
  elementType = input.getElementType();
  geometry = ConvGeometry::get(input, cotangent, op.getWindow(), op.getStrides(), op.getDilations(), op.getPadding());
  groups = std::max<int64_t>(1, op.getGroups());
  channels = input.getShape().back() / groups;
  outputs = cotangent.getShape().back() / groups;
  depthwise = groups > 1 && channels == 1 && outputs == 1;
  if (geometry.isPointwise()) { // one line
    geometry.in = geometry.out = {1, 1, positions()};
    geometry.batch = 1;
  }
  inParts = kInParts<OpT>;
  pieces = inParts ? llvm::divideCeil(positions(), kChainPart) : 1;
  constexpr int64_t kMostFlatRows = 400;
  bool padded = geometry.hasPadding(0) || geometry.hasPadding(1) || geometry.hasPadding(2);
  flat = !padded && taps() * channels <= kMostFlatRows;
  panels = llvm::divideCeil(depthwise ? groups : outputs, tileColumns());
  // Tiles of about four million operations, more where there would be one alone.
  constexpr double kTileFlops = 4e6;
  int64_t tilePositions = inParts ? std::min(positions(), kChainPart) : positions();
  double perChannel = 2.0 * taps() * tilePositions * std::min<int64_t>(outputs, kPanelWidth);
  blockChannels = channels;
  if (!flat && !depthwise && perChannel > 0) {
    int64_t wanted = llvm::alignTo(std::max<int64_t>(int64_t(kTileFlops / perChannel), 1), 8);
    blockChannels = std::min(channels, wanted);
    // Neighbours of nearly equal size.
    blockChannels = llvm::divideCeil(channels, llvm::divideCeil(channels, blockChannels));
  }
  blocks = blockChannels ? llvm::divideCeil(channels, blockChannels) : 0;
}

int64_t FilterGradient::tileColumns() const { return depthwise ? kDepthwiseBlock : kPanelWidth; }

int64_t FilterGradient::tiles() const {
  if (channels == 0 || outputs == 0 || taps() == 0) return 0;
  return pieces * (depthwise ? panels : groups * panels * blocks);
}

int64_t FilterGradient::scratchBytes() const {
  int64_t rows = taps() * (depthwise ? 1 : blockChannels);
  return rows * tileColumns() * storageBytes(computeType(elementType));
}

bool FilterGradient::isCut() const {
  return inParts || (isa<FloatType>(computeType(elementType)) && positions() > kLongestChain);
}
