// The filter's rows of a tile in shared memory, of filters that lie as the model has them: the block copies neighbours,
// and slices take elements that are as far apart as the window has taps. For the tiles of convolutions.
#pragma once
#include "lib/Target/CUDA/Kernels/Contraction/ConvPlaces.h"

namespace sprig::cuda {

class FilterPatch {
public:
  /// Elements in shared memory, from shapes alone; 0 where a patch is too large or slices read neighbours already.
  static int64_t elements(const ConvForm &form);

  /// Of the tile from `firstRow` on. All threads of the block begin to copy it: they have to wait for copies, and meet.
  FilterPatch(GpuBuilder &kernel, ConvPlaces &places, const ConvForm &form, mlir::Value group, mlir::Value firstRow);

  mlir::Value buffer() const { return shared; }
  /// ConvPlaces::filterAt, in the patch.
  mlir::Value at(mlir::Value row, const ConvPlaces::Tap &tap, mlir::Value channel);

private:
  void copy(mlir::Value group);

  GpuBuilder &k;
  Index32 n;
  ConvPlaces &places;
  const ConvForm &form;
  const mlir::Value firstRow;
  mlir::Value shared;
};

} // namespace sprig::cuda
