#include "lib/Target/CPU/Kernels/Contraction/PackedGemm.h"
#include "lib/Target/CPU/Kernels/Contraction/CodedPanels.h"
#include "lib/Target/CPU/Kernels/Contraction/DotProduct.h"
#include "lib/Target/CPU/Kernels/Contraction/MatrixUnit.h"
#include "lib/Target/CPU/Kernels/Contraction/WideRows.h"
#include "lib/Target/CPU/Kernels/Contraction/RegisterTile.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
/// The cut of a product into tiles, by its shape alone.
struct Cut {
  int64_t groupPanels; // panels of a tile
  int64_t groups;
  int64_t blockRows; // rows of a tile
  int64_t blocks;
  bool rowsOutermost;  // consecutive tiles share a block of rows; else a group of panels
  bool rowsForThreads; // that for the sake of threads; a thread that has all tiles reads panel by panel

  explicit Cut(const PackedGemm &gemm) {
    int64_t panels = llvm::divideCeil(gemm.columns, kPanelWidth);
    groupPanels = gemm.rows <= 2 ? 4 : gemm.rows <= 4 ? 2 : 1;
    groupPanels = std::min(groupPanels, std::max<int64_t>(panels, 1));
    if (groupPanels > 2 && panels == groupPanels) groupPanels = 2; // two tiles that two threads share
    groups = llvm::divideCeil(panels, groupPanels);
    // About a million and a half operations a tile; a block size that divides the rows saves a second copy of the code.
    int64_t perRow = std::max<int64_t>(2 * gemm.depth * groupPanels * kPanelWidth, 1);
    int64_t wanted = std::clamp<int64_t>(1500000 / perRow, 28, 512);
    blockRows = std::max<int64_t>(gemm.rows, 1);
    if (gemm.rows > wanted * 3 / 2) {
      blockRows = wanted;
      int64_t best = gemm.rows % wanted;
      for (int64_t distance = 1; best != 0 && distance <= wanted / 3; ++distance)
        for (int64_t candidate : {wanted + distance, wanted - distance})
          if (gemm.rows % candidate == 0) {
            blockRows = candidate;
            best = 0;
          }
    }
    bool smallPanels = gemm.depth * gemm.columns <= kSmallPanels;
    if (smallPanels && blockRows == gemm.rows && blockRows >= kHalvedRows) blockRows = llvm::divideCeil(blockRows, 2);
    blocks = llvm::divideCeil(gemm.rows, blockRows);
    // A left side that stays in the second-level cache is read again for each panel; of a larger one, each block of
    // rows is read once, and the panels, which lie one after the other, come from memory. Small panels stay in the
    // cache anyway: then rows, so that a thread that has a range of tiles reads what it wrote itself.
    constexpr int64_t kSmallLeft = 128 * 1024;
    bool largeLeft = gemm.rows * gemm.depth > kSmallLeft;
    rowsForThreads = !largeLeft && blocks > 1 && smallPanels;
    rowsOutermost = largeLeft || rowsForThreads;
  }

  SmallVector<int64_t> space() const {
    return rowsOutermost ? SmallVector<int64_t>{blocks, groups} : SmallVector<int64_t>{groups, blocks};
  }
  /// What a block of rows, a group of panels and a tile of both touch, in the order of the space.
  SmallVector<TileStep> steps(int64_t rowStride, int64_t rowExtent, int64_t groupStride, int64_t groupExtent,
                              int64_t tileExtent) const {
    TileStep block{rowStride, 0, rowExtent}, group{groupStride, 0, groupExtent};
    (rowsOutermost ? group : block).extent = tileExtent;
    return rowsOutermost ? SmallVector<TileStep>{block, group} : SmallVector<TileStep>{group, block};
  }
};
} // namespace

/// What sums want of the scratch memory; and where a tile unpacks its panel, behind that.
static int64_t sumsBytes(const PackedGemm &gemm, const Epilogue &epilogue) {
  return std::max(epilogue.stageBytes(), MatrixUnit::sumsBytes(gemm.interleave));
}
static int64_t unpackedAt(const PackedGemm &gemm, const Epilogue &epilogue) {
  return llvm::alignTo(sumsBytes(gemm, epilogue), 64);
}

/// Whether processors without dot products of bf16 have the left side of a register tile as f32.
static bool widens(const PackedGemm &gemm) { return gemm.interleave == 2 && WideRows::areFor(gemm.rows, gemm.depth); }

KernelPlan PackedGemm::plan(const Epilogue &epilogue) const {
  Cut cut(*this);
  KernelPlan plan;
  plan.tiles = cut.groups * cut.blocks;
  plan.scratchBytes = sumsBytes(*this, epilogue);
  if (unpacks()) plan.scratchBytes = unpackedAt(*this, epilogue) + unpackedBytes();
  if (widens(*this)) plan.scratchBytes = unpackedAt(*this, epilogue) + WideRows::bytes();
  int64_t groupColumns = std::min(cut.groupPanels * kPanelWidth, columns), rowsOfBlock = cut.blockRows;
  auto operandSteps = [&](unsigned operand) {
    int64_t block = rowsOfBlock * depth, group = cut.groupPanels * panelSize(), all = cut.groups * group;
    if (operand > 1) return SmallVector<TileStep>();
    return operand == 0 ? cut.steps(block, block, 0, rows * depth, block) : cut.steps(0, all, group, group, group);
  };
  SmallVector<TileStep> result =
      cut.steps(rowsOfBlock * columns, rowsOfBlock * columns, groupColumns, (rows - 1) * columns + groupColumns,
                (rowsOfBlock - 1) * columns + groupColumns);
  if (plan.tiles) plan.ranges = epilogue.tileRanges(cut.space(), result, operandSteps);
  return plan;
}

void PackedGemm::emit(KernelBuilder &k, const Epilogue &epilogue, Value left, Value panels, Type elementType) const {
  emitTiles(k, epilogue, left, {k.flat(panels)}, elementType);
}

void PackedGemm::emit(KernelBuilder &k, const Epilogue &epilogue, Value left, const CodedPanels &panels,
                      Type elementType) const {
  emitTiles(k, epilogue, left, {Value(), nullptr, &panels}, elementType);
}

void PackedGemm::emit(KernelBuilder &k, const Epilogue &epilogue, Value left, const UnpackedPanels &panels,
                      Type elementType) const {
  Right right{Value(), nullptr, &panels};
  if (unpacks() && !panels.isHidden())
    right = {k.scratchBuffer(unpackedAt(*this, epilogue), panels.unpackedType()), &panels, nullptr};
  emitTiles(k, epilogue, left, right, elementType);
}

void PackedGemm::emitTiles(KernelBuilder &k, const Epilogue &epilogue, Value left, const Right &right,
                           Type elementType) const {
  if (rows == 0 || columns == 0) return;
  Cut cut(*this);
  Value leftFlat = k.flat(left);
  const int64_t step = places().interleave, panelElements = places().size();

  // Vectors of columns from vector `firstVector` of a panel on.
  struct Columns : TileColumns {
    Value panel;
    int64_t firstVector;
    int64_t vectors() const { return lanes.size(); }
  };
  auto columnsOf = [&](Value panel, int64_t firstVector, int64_t vectors, int64_t validColumns) {
    Value first = k.add(k.mul(panel, kPanelWidth), firstVector * kLanes);
    return Columns{tileColumns(k, first, vectors, validColumns), panel, firstVector};
  };
  // The loop over k for rows from `first` on.
  auto loopOf = [&](Value first, const Columns &of) {
    ContractionLoop loop;
    loop.left = leftFlat;
    loop.leftBase = k.mul(first, depth);
    loop.leftRowStride = depth;
    loop.right = right.whole;
    loop.rightBase = k.add(right.unpacked ? k.index(0) : k.mul(of.panel, panelElements),
                           of.firstVector / 2 * panelElements + of.firstVector % 2 * kLanes * step);
    for (int64_t j = 0; j < of.vectors(); ++j)
      loop.rightOffsets.push_back(j / 2 * panelElements + j % 2 * kLanes * step);
    loop.elementType = elementType;
    loop.takeSteps(k.index(depth / step), interleave, depth % step);
    return loop;
  };
  std::optional<WideRows> wide;
  if (widens(*this) && !DotProduct::isNative(k.target, interleave))
    wide.emplace(k, k.scratchBuffer(unpackedAt(*this, epilogue), WideRows::type(k)));
  auto sumsOf = [&](Value first, int64_t tileRows, const Columns &of) {
    if (right.direct)
      return right.direct->contract(leftFlat, k.mul(first, depth), tileRows, {of.panel, of.firstVector, of.lanes});
    SmallVector<Value> initial = epilogue.initialTile(k, tileRows, of.values, of.masks, of.lanes);
    ContractionLoop loop = loopOf(first, of);
    return wide ? wide->contract(loop, depth, tileRows, initial) : emitContraction(k, loop, initial);
  };
  auto registerTile = [&](Value first, int64_t tileRows, const Columns &of) {
    epilogue.storeRows(k, sumsOf(first, tileRows, of), first, of.values, of.masks, /*stage=*/0);
  };

  std::optional<MatrixUnit> matrix;
  bool isAlone = cut.blockRows <= MatrixUnit::kPartRows;
  if (auto sizes = MatrixUnit::choose(
          k.target, right.direct ? 1 : interleave,
          {rows, columns, cut.blockRows, 1, depth / step, /*isWhole=*/false, isAlone, epilogue.hasFunctions()})) {
    auto type = MemRefType::get({MatrixUnit::sumsBytes(interleave) / int64_t(sizeof(int32_t))}, elementType);
    matrix.emplace(k, *sizes, k.scratchBuffer(0, type));
  }
  // Rows by the matrix unit; what whole steps leave over of k is added to their sums.
  auto matrixTile = [&](Value begin, int64_t tileRows, const Columns &of) {
    auto tile = [&](Value first, Value sum) {
      matrix->begin(of.vectors());
      matrix->add(loopOf(k.add(begin, first), of));
      matrix->end(sum);
    };
    int64_t taken = matrix->stepsTaken(depth / step);
    matrix->forParts(tileRows, tile, [&](Value first, int64_t count, Value sum) {
      Value row = k.add(begin, first);
      auto rest = [&](Value i, int64_t, ValueRange accumulators) {
        ContractionLoop loop = loopOf(k.add(row, i), of);
        loop.firstStep = k.index(taken);
        return emitContraction(k, loop, accumulators);
      };
      Epilogue::Sums from{matrix->sums, sum, k.index(count), row};
      if (taken * step < depth) from.rest = rest;
      epilogue.storeSums(k, from, of.values, of.masks, of.lanes);
    });
  };

  // A tile: `tileRows` rows from `first` on and `tileColumns` columns from panel `panelIndex` on.
  auto tile = [&](Value first, int64_t tileRows, Value panelIndex, int64_t tileColumns) {
    int64_t vectors = llvm::divideCeil(tileColumns, kLanes);
    int64_t width = std::min(chooseTileVectors(k.target, elementType, std::min(tileRows, rows)), vectors);
    // Of few rows tiles are wide; what takes numbers apart wants some of their registers.
    if (right.direct && rows <= kNarrowRows) width = std::max<int64_t>(width / 2, 1);
    if (right.unpacked) right.unpacked->unpack(panelIndex, right.whole); // the only one of the tile, of so many rows
    for (int64_t j = 0; j < vectors; j += width) {
      int64_t count = std::min(width, vectors - j);
      Columns of = columnsOf(panelIndex, j, count, tileColumns - j * kLanes);
      if (matrix) {
        matrixTile(first, tileRows, of);
        continue;
      }
      int64_t most = maxTileRows(k.target, elementType, count, depth / step, interleave);
      if (right.direct) most = right.direct->tileRows(most);
      forRowTiles(k, first, splitRows(tileRows, most),
                  [&](Value row, int64_t registerRows) { registerTile(row, registerRows, of); });
    }
  };

  int64_t groupColumns = cut.groupPanels * kPanelWidth;
  int64_t lastColumns = columns - (cut.groups - 1) * groupColumns;
  int64_t lastRows = rows - (cut.blocks - 1) * cut.blockRows;
  k.forTiles([&](Value index) {
    if (cut.rowsForThreads) index = k.innerFirstIfWhole(index, cut.blocks, cut.groups);
    SmallVector<Value> position = cut.rowsOutermost ? k.delinearize(index, {cut.blocks, cut.groups})
                                                    : k.delinearize(index, {cut.groups, cut.blocks});
    Value block = position[cut.rowsOutermost ? 0 : 1], group = position[cut.rowsOutermost ? 1 : 0];
    Value first = k.mul(block, cut.blockRows), panelIndex = k.mul(group, cut.groupPanels);
    auto forColumns = [&](int64_t tileColumns) {
      k.ifLast(block, cut.blocks, cut.blockRows != lastRows,
               [&](bool last) { tile(first, last ? lastRows : cut.blockRows, panelIndex, tileColumns); });
    };
    k.ifLast(group, cut.groups, groupColumns != lastColumns,
             [&](bool last) { forColumns(last ? lastColumns : groupColumns); });
  });
  if (matrix) matrix->release();
}
