#include "lib/Target/CPU/Kernels/Convolution/PackedConvolution.h"
#include "lib/Target/CPU/Kernels/Convolution/PaddedRows.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

PackedConvolution::PackedConvolution(kernel::ConvPackedOp op) {
  auto result = cast<RankedTensorType>(op.getResult().getType());
  auto input = cast<RankedTensorType>(op.getInput().getType());
  geometry = ConvGeometry::get(input, result, op.getWindow(), op.getStrides(), op.getDilations(), op.getPadding());
  groups = op.getGroups();
  groupInputs = geometry.inputChannels / groups;
  groupOutputs = result.getShape().back() / groups;
  int64_t interleave = kernel::interleaveIn(cast<RankedTensorType>(op.getPanels().getType()).getShape());
  int64_t run = kernel::runLength(geometry.inputChannels, groups, op.getWindow(), op.getDilations());
  places = {geometry.taps() * groupInputs, std::max<int64_t>(interleave > 1 ? run : depth(), 1), interleave};
  panels = llvm::divideCeil(groupOutputs, kPanelWidth);
  // Narrow results of many samples have more samples than neighbours.
  sampleRows = geometry.out[2] < 7 && geometry.batch > geometry.out[2];
  int64_t rows = sampleRows ? geometry.batch : geometry.out[2];
  tilePanels = std::clamp<int64_t>(rows <= 2 ? 4 : rows <= 4 ? 2 : 1, 1, std::max<int64_t>(panels, 1));
  panelTiles = llvm::divideCeil(panels, tilePanels);
  constexpr int64_t kTileFlops = 1500000;
  int64_t position = std::max<int64_t>(2 * geometry.taps() * groupInputs * tilePanels * kPanelWidth, 1);
  int64_t height = std::max<int64_t>(geometry.out[1], 1);
  heightBlocks = llvm::divideCeil(
      height, std::clamp<int64_t>(kTileFlops / (position * std::max<int64_t>(geometry.out[2], 1)), 1, height));
  // What two threads share evenly.
  bool onePlane = geometry.batch * geometry.out[0] == 1;
  if (onePlane && heightBlocks == 1 && hasSmallPanels()) heightBlocks = ConvGeometry::halvesOf(height);
  if (onePlane && heightBlocks == 3) heightBlocks = 4;
  blockHeight = llvm::divideCeil(height, heightBlocks);
  heightBlocks = llvm::divideCeil(height, blockHeight);
  blockWidth = geometry.out[2];
  if (onePlane && geometry.out[1] == 1 && !sampleRows && hasSmallPanels())
    cutWidth(llvm::divideCeil(position * geometry.out[2], kTileFlops));
  int64_t samples = std::max<int64_t>(geometry.batch, 1);
  blockSamples = std::clamp<int64_t>(kTileFlops / position, std::min<int64_t>(28, samples), samples);
  sampleBlocks = llvm::divideCeil(samples, blockSamples);
}

/// Into so many blocks of columns, two at least, but where these would be narrow; all but the first and the last one
/// are without padding.
void PackedConvolution::cutWidth(int64_t blocks) {
  constexpr int64_t kLeast = 32, kUnit = 4;
  int64_t width = geometry.out[2];
  if (width < 2 * kLeast) return;
  auto in = [&](int64_t count) { return int64_t(llvm::alignTo(llvm::divideCeil(width, count), kUnit)); };
  auto countOf = [&](int64_t wide) { return int64_t(llvm::divideCeil(width, wide)); };
  int64_t wide = std::max(kLeast, in(std::max<int64_t>(blocks, 2)));
  auto [begin, end] = geometry.interiorColumns();
  if (countOf(wide) > 2 && (begin > wide || (countOf(wide) - 1) * wide > end)) wide = in(2);
  blockWidth = wide;
  widthBlocks = countOf(wide);
}

int64_t PackedConvolution::tiles() const {
  int64_t perPanels =
      sampleRows ? geometry.positions() * sampleBlocks : geometry.batch * geometry.out[0] * heightBlocks * widthBlocks;
  return groups * panelTiles * perPanels;
}

bool PackedConvolution::copiesRows() const {
  return !sampleRows && widthBlocks == 1 && PaddedRows::areFor(geometry, groupInputs);
}

int64_t PackedConvolution::copiedRows() const { return PaddedRows::together(geometry, groupInputs, blockHeight); }

std::optional<MatrixUnit::Sizes> PackedConvolution::matrixSizes(const CpuArch &target, const Epilogue &epilogue) const {
  int64_t step = places.interleave, perTap = groupInputs / step;
  // Tiles that lack taps at some columns are not its own; of two blocks of a row each has such.
  bool hasEdges = !sampleRows && geometry.hasPadding(2) && !copiesRows() && widthBlocks <= 2;
  if (groupInputs % step || groupInputs == 0 || hasEdges) return std::nullopt;
  // Where no tap is left out, those that follow each other come as one.
  bool isInside = !geometry.hasPadding(2) || widthBlocks > 1;
  bool merges = copiesRows() ? geometry.dilation[2] == 1 : mergesTaps() && isInside;
  int64_t chains = geometry.taps() / (merges ? geometry.window[2] : 1), chain = geometry.taps() / chains * perTap;
  int64_t sums = geometry.batch * geometry.positions(), block = sampleRows ? blockSamples : blockWidth;
  bool isAlone = block <= MatrixUnit::kPartRows && (sampleRows || blockHeight == 1);
  return MatrixUnit::choose(
      target, step,
      {sums, groups * groupOutputs, block, chains, chain, /*isWhole=*/true, isAlone, epilogue.hasFunctions()});
}

int64_t PackedConvolution::sumsBytes(const Epilogue &epilogue) const {
  return std::max(sampleRows ? 0 : epilogue.stageBytes(), MatrixUnit::sumsBytes(places.interleave));
}

int64_t PackedConvolution::scratchBytes(const Epilogue &epilogue) const {
  bool copies = MatrixUnit::sumsBytes(places.interleave) > 0 && copiesRows();
  return sumsBytes(epilogue) + (copies ? PaddedRows(geometry, groupInputs, copiedRows()).bytes() : 0);
}

SmallVector<int64_t> PackedConvolution::space() const {
  SmallVector<int64_t> sizes{groups};
  if (!rowsOutermost()) sizes.push_back(panelTiles);
  if (sampleRows)
    sizes.append({sampleBlocks, geometry.positions()});
  else
    sizes.append({geometry.batch, geometry.out[0], heightBlocks});
  if (widthBlocks > 1) sizes.push_back(widthBlocks);
  if (rowsOutermost()) sizes.push_back(panelTiles);
  return sizes;
}

SmallVector<TileStep> PackedConvolution::inputSteps() const {
  int64_t sample = geometry.rowStride(/*samples=*/true);
  SmallVector<TileStep> steps = sampleRows ? samples(sample) : geometry.inputSteps(blockHeight);
  if (widthBlocks > 1) steps.push_back(geometry.inputColumns(blockWidth));
  return withPanels(geometry.batch * sample, std::move(steps));
}

SmallVector<TileStep> PackedConvolution::resultSteps() const {
  int64_t channels = groups * groupOutputs, sample = geometry.positions() * channels;
  SmallVector<TileStep> steps = sampleRows ? samples(sample) : geometry.resultSteps(blockHeight, channels);
  if (widthBlocks > 1) steps.push_back(geometry.resultColumns(blockWidth, channels));
  return withPanels(geometry.batch * sample, std::move(steps));
}

SmallVector<TileStep> PackedConvolution::panelSteps() const {
  int64_t size = places.size(), group = panels * size, tile = tilePanels * size;
  SmallVector<TileStep> steps(space().size(), {0, 0, rowsOutermost() ? group : tile});
  steps[0] = {group, 0, group};
  steps[rowsOutermost() ? steps.size() - 1 : 1] = {tile, 0, tile};
  return steps;
}

SmallVector<TileStep> PackedConvolution::samples(int64_t size) const {
  return {{blockSamples * size, 0, blockSamples * size}, {0, 0, blockSamples * size}};
}

/// The steps of rows in the order of the space; groups and panels touch channels all over them.
SmallVector<TileStep> PackedConvolution::withPanels(int64_t all, SmallVector<TileStep> steps) const {
  if (rowsOutermost())
    steps.push_back({0, steps.back().begin, steps.back().extent});
  else
    steps.insert(steps.begin(), TileStep{0, 0, all});
  steps.insert(steps.begin(), TileStep{0, 0, all});
  return steps;
}
