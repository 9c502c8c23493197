// What the windows of a tile see of a batch of images, in shared memory: whole rows of all channels, which the block
// copies, so that windows that overlap read global memory once. For the tiles of convolutions.
#pragma once
#include "lib/Target/CUDA/Kernels/Contraction/ConvPlaces.h"

namespace sprig::cuda {

/// Where the patch of a tile lies; from shapes alone.
struct PatchForm {
  /// None of what is no image, of patches that are too large beside the slices and so many elements of the filter, and
  /// where windows read no more than there is in one.
  static std::optional<PatchForm> of(const ConvForm &form, int64_t ofFilter);

  /// The tile of such a product: its slices come from near, so shallow ones do, and leave room for more blocks.
  static TileShape tileOf(const ConvForm &form);

  int64_t rows;      // of each channel: those that windows see, of one image after the other
  int64_t imageRows; // from an image's first one to that of the next image, as far as both are there
  bool isWhole;      // whether images are there as a whole
  int64_t stride;    // of windows along a row: elements that are so far apart lie side by side
  int64_t cells;     // elements that do
  int64_t rowPitch, channelPitch;
};

class WindowPatch {
public:
  /// Of the tile from `firstColumn` on. All threads of the block begin to copy it: they have to wait for copies, and
  /// meet.
  WindowPatch(GpuBuilder &kernel, ConvPlaces &places, const ConvForm &form, const PatchForm &patch, mlir::Value group,
              mlir::Value firstColumn);

  mlir::Value buffer() const { return shared; }
  /// ConvPlaces::seenAt, in the patch: also where there is no element, or no channel.
  ConvPlaces::Seen seenAt(mlir::Value column, const ConvPlaces::Tap &tap, mlir::Value channel);

private:
  void copy(mlir::Value group);
  void put(mlir::Value vector, mlir::Value row, mlir::Value x);

  GpuBuilder &k;
  Index32 n;
  ConvPlaces &places;
  const ConvForm &form;
  const PatchForm patch;
  /// The tile's first image; where its first row is, counted as windows are, and in the image.
  mlir::Value shared, firstImage, firstRow, firstOrigin;
};

} // namespace sprig::cuda
