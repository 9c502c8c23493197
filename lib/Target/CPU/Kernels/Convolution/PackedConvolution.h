// A packed convolution (kernel.conv_packed) and how it is cut into tiles, by its shape alone.
#pragma once
#include "dialects/Kernel/KernelContraction.h"
#include "lib/Target/CPU/Kernels/Contraction/MatrixUnit.h"
#include "lib/Target/CPU/Kernels/Contraction/PackedGemm.h"
#include "lib/Target/CPU/Kernels/Convolution/ConvGeometry.h"

namespace sprig::cpu {

struct PackedConvolution {
  ConvGeometry geometry;
  int64_t groups, groupInputs, groupOutputs;
  kernel::PanelPlaces places; // in a panel; interleaved where sums are wider
  bool sampleRows;            // rows of register tiles are samples; else neighbours in width
  int64_t panels;             // of a group
  int64_t tilePanels;         // panels of a tile, of one group
  int64_t panelTiles;         // tiles that a group's panels make
  int64_t blockHeight;        // height of a tile when rows lie in width
  int64_t heightBlocks;
  int64_t blockWidth; // of the only row of the result
  int64_t widthBlocks = 1;
  int64_t blockSamples; // samples of a tile when rows are samples
  int64_t sampleBlocks;

  explicit PackedConvolution(kernel::ConvPackedOp op);

  bool isGemm() const { return groups == 1 && geometry.isPointwise(); }
  PackedGemm gemm() const {
    return {geometry.batch * geometry.positions(), groupOutputs, groupInputs, places.interleave};
  }
  /// Consecutive tiles share rows where the panels stay in the cache anyway, so that a thread that has a range of tiles
  /// reads what it wrote itself; else they share panels.
  bool rowsOutermost() const { return tiles() > groups * panelTiles && hasSmallPanels(); }
  int64_t tiles() const;
  /// Whether taps that follow each other in width are one loop over k.
  bool mergesTaps() const { return groups == 1 && geometry.dilation[2] == 1; }

  /// Sizes of the matrix unit's steps, where products are its own.
  std::optional<MatrixUnit::Sizes> matrixSizes(const CpuArch &target, const Epilogue &epilogue) const;
  /// Whether it reads copies of the input's rows, with their padding; and for so many rows of the result at a time.
  bool copiesRows() const;
  int64_t copiedRows() const;
  /// Whether its sums of a row are read while those of the next one are computed; else parts of a row.
  bool hasNarrowRows() const { return blockWidth <= MatrixUnit::kPartRows && widthBlocks == 1; }

  /// Scratch memory: for sums, and behind them for copied rows.
  int64_t sumsBytes(const Epilogue &epilogue) const;
  int64_t scratchBytes(const Epilogue &epilogue) const;

  /// The space of tiles, and what they touch along it.
  llvm::SmallVector<int64_t> space() const;
  llvm::SmallVector<TileStep> inputSteps() const;
  llvm::SmallVector<TileStep> resultSteps() const;
  llvm::SmallVector<TileStep> panelSteps() const;

private:
  int64_t depth() const { return geometry.taps() * groupInputs; }
  bool hasSmallPanels() const { return depth() * panels * kPanelWidth <= kSmallPanels; }
  void cutWidth(int64_t blocks);
  llvm::SmallVector<TileStep> samples(int64_t size) const;
  llvm::SmallVector<TileStep> withPanels(int64_t all, llvm::SmallVector<TileStep> steps) const;
};

} // namespace sprig::cpu
