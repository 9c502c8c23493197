// kernel.conv_packed with an epilogue: register tiles of output positions times panels of output channels.
#include "lib/Target/CPU/Kernels/Convolution/ConvColumns.h"
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "lib/Target/CPU/Kernels/Convolution/PackedConvolution.h"
#include "lib/Target/CPU/Kernels/Convolution/PaddedRows.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
/// Emits one tile of panels for given output rows.
class ConvKernel {
public:
  ConvKernel(KernelBuilder &kernel, const PackedConvolution &conv, const Epilogue &epilogue, Value input, Value panels,
             Type elementType)
      : k(kernel), conv(conv), g(conv.geometry), epilogue(epilogue), input(k.flat(input)), panels(k.flat(panels)),
        elementType(elementType) {}

  void emit() {
    if (auto sizes = conv.matrixSizes(k.target, epilogue)) {
      int64_t sums = MatrixUnit::sumsBytes(conv.places.interleave) / int64_t(sizeof(int32_t));
      matrix.emplace(k, *sizes, k.scratchBuffer(0, MemRefType::get({sums}, elementType)));
      if (conv.copiesRows()) {
        padded.emplace(g, conv.groupInputs, conv.copiedRows());
        copies = k.scratchBuffer(conv.sumsBytes(epilogue), MemRefType::get({padded->bytes()}, k.b.getI8Type()));
      }
    }
    emitTiles();
    if (matrix) matrix->release();
  }

private:
  void emitTiles() {
    int64_t fullColumns = conv.tilePanels * kPanelWidth;
    int64_t lastColumns = conv.groupOutputs - (conv.panelTiles - 1) * fullColumns;
    int64_t across = conv.tiles() / (conv.groups * conv.panelTiles);
    k.forTiles([&](Value tile) {
      if (conv.groups == 1 && conv.rowsOutermost()) tile = k.innerFirstIfWhole(tile, across, conv.panelTiles);
      SmallVector<Value> at = conv.rowsOutermost() ? k.delinearize(tile, {conv.groups, across, conv.panelTiles})
                                                   : k.delinearize(tile, {conv.groups, conv.panelTiles, across});
      group = at[0];
      panelTile = at[conv.rowsOutermost() ? 2 : 1];
      Value position = at[conv.rowsOutermost() ? 1 : 2];
      k.ifLast(panelTile, conv.panelTiles, lastColumns != fullColumns, [&](bool last) {
        columns = last ? lastColumns : fullColumns;
        conv.sampleRows ? emitSamples(position) : emitRows(position);
      });
    });
  }

  void emitRows(Value position) {
    SmallVector<Value> at = k.delinearize(position, {g.batch, g.out[0], conv.heightBlocks, conv.widthBlocks});
    Value begin = k.mul(at[2], conv.blockHeight);
    Value end = k.min(k.add(begin, conv.blockHeight), k.index(g.out[1]));
    forColumns(conv.blockWidth, [&](int64_t firstVector, int64_t vectors) {
      if (matrix && conv.widthBlocks == 1) return emitMatrixRows(at, begin, end, firstVector, vectors);
      int64_t most = mostRows(vectors, /*samples=*/false);
      auto emit = [&](const ConvTile &tile) { emitTile(tile, firstVector, vectors); };
      k.loop(begin, end, 1, [&](Value height) {
        auto columns = [&](int64_t first, int64_t last) {
          if (matrix && !g.hasPadding(2))
            return emitMatrixLine(rowTile(at, height, k.index(first)), last - first, firstVector, vectors);
          forWidthTiles(k, g, at[0], at[1], height, most, emit, std::pair(first, last));
        };
        int64_t wide = conv.blockWidth, lastBlock = conv.widthBlocks - 1;
        if (lastBlock == 0) return columns(0, g.out[2]);
        auto is = [&](int64_t block) -> Value {
          return arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::eq, at[3], k.index(block));
        };
        auto inside = [&] {
          if (matrix) return emitMatrixLine(rowTile(at, height, k.mul(at[3], wide)), wide, firstVector, vectors);
          forRowTiles(k, k.mul(at[3], wide), splitRows(wide, most), [&](Value width, int64_t rows) {
            emit(ConvTile{ConvTile::Rows::Interior, at[0], at[1], height, width, 0, rows});
          });
        };
        auto behind = [&] {
          auto last = [&] { columns(lastBlock * wide, g.out[2]); };
          lastBlock == 1 ? last() : k.ifThen(is(lastBlock), last, inside);
        };
        k.ifThen(is(0), [&] { columns(0, wide); }, behind);
      });
    });
  }

  void emitSamples(Value position) {
    SmallVector<Value> at = k.delinearize(position, {conv.sampleBlocks, g.out[0], g.out[1], g.out[2]});
    Value begin = k.mul(at[0], conv.blockSamples);
    int64_t lastSamples = g.batch - (conv.sampleBlocks - 1) * conv.blockSamples;
    k.ifLast(at[0], conv.sampleBlocks, lastSamples != conv.blockSamples, [&](bool last) {
      int64_t samples = last ? lastSamples : conv.blockSamples;
      forColumns(samples, [&](int64_t firstVector, int64_t vectors) {
        ConvTile whole{ConvTile::Rows::Samples, begin, at[1], at[2], at[3]};
        if (matrix) return emitMatrixLine(whole, samples, firstVector, vectors);
        forRowTiles(k, begin, splitRows(samples, mostRows(vectors, /*samples=*/true)), [&](Value sample, int64_t rows) {
          ConvTile tile{ConvTile::Rows::Samples, sample, at[1], at[2], at[3], 0, rows};
          emitTile(tile, firstVector, vectors);
        });
      });
    });
  }

  int64_t mostRows(int64_t vectors, bool samples) const {
    int64_t stride = g.rowStride(samples) / conv.places.interleave;
    return maxTileRows(k.target, elementType, vectors, stride, conv.places.interleave);
  }

  /// The columns of the tile in steps of what a register tile with that many rows takes.
  void forColumns(int64_t rows, llvm::function_ref<void(int64_t firstVector, int64_t vectors)> body) {
    int64_t vectors = llvm::divideCeil(columns, kLanes);
    int64_t step = std::min(chooseTileVectors(k.target, elementType, rows), vectors);
    for (int64_t j = 0; j < vectors; j += step) body(j, std::min(step, vectors - j));
  }

  /// Some vectors of the tile's columns.
  struct Columns : TileColumns {
    Value panelBase; // of the first in the panels
  };
  Columns columnsOf(int64_t firstVector, int64_t vectors) {
    int64_t panelSize = conv.places.size(), step = conv.places.interleave;
    Value panel = k.add(k.mul(group, conv.panels), k.mul(panelTile, conv.tilePanels));
    Value base = k.add(k.mul(panel, panelSize), firstVector / 2 * panelSize + firstVector % 2 * kLanes * step);
    Value first = k.add(k.mul(group, conv.groupOutputs),
                        k.add(k.mul(panelTile, conv.tilePanels * kPanelWidth), firstVector * kLanes));
    return {tileColumns(k, first, vectors, columns - firstVector * kLanes), base};
  }

  Value firstChannel() { return k.mul(group, conv.groupInputs); }

  /// The loop over the channels of `taps` taps from `tap` on, whose inputs follow each other from `position` on.
  ContractionLoop loopOver(Value left, Value position, int64_t rowStride, const Columns &of, Value tap, Value taps) {
    int64_t step = conv.places.interleave;
    ContractionLoop loop;
    loop.left = left;
    loop.leftBase = position;
    loop.leftRowStride = rowStride;
    loop.right = panels;
    for (int64_t j = 0; j < int64_t(of.lanes.size()); ++j)
      loop.rightOffsets.push_back(j / 2 * conv.places.size() + j % 2 * kLanes * step);
    loop.elementType = elementType;
    loop.isPart = true; // how many taps come as one depends on the tile
    if (conv.groupInputs % step == 0) {
      int64_t perTap = conv.groupInputs / step;
      loop.rightBase = k.add(of.panelBase, k.mul(tap, perTap * kPanelWidth * step));
      loop.takeSteps(k.mul(taps, perTap), step, 0);
    } else { // no padding: whole runs
      int64_t run = conv.places.run, rowsOfRun = conv.places.runRows() * kPanelWidth * step;
      loop.rightBase = k.add(of.panelBase, k.mul(k.div(tap, run / conv.groupInputs), rowsOfRun));
      loop.takeSteps(k.index(run / step), step, run % step);
    }
    return loop;
  }

  void emitTile(const ConvTile &tile, int64_t firstVector, int64_t vectors) {
    Columns of = columnsOf(firstVector, vectors);
    SmallVector<Value> accumulators =
        emitTaps(k, g, tile, conv.mergesTaps(), epilogue.initialTile(k, tile.rows, of.values, of.masks, of.lanes),
                 [&](ValueRange carried, Value position, int64_t rowStride, Value tap, Value taps) {
                   Value at = k.add(position, firstChannel());
                   return emitContraction(k, loopOver(input, at, rowStride, of, tap, taps), carried);
                 });
    SmallVector<Value> rows = resultRows(k, g, tile);
    if (tile.kind == ConvTile::Rows::Samples)
      epilogue.store(k, accumulators, rows, of.values, of.masks);
    else
      epilogue.storeRows(k, accumulators, rows.front(), of.values, of.masks, /*stage=*/0);
  }

  /// A tile of the matrix unit, whose sums are those of the rows from `sum` on.
  void emitMatrixTile(const ConvTile &tile, const Columns &of, Value sum) {
    matrix->begin(of.lanes.size());
    emitTaps(k, g, tile, conv.mergesTaps(), {},
             [&](ValueRange, Value position, int64_t rowStride, Value tap, Value taps) {
               Value at = k.add(position, firstChannel());
               matrix->add(loopOver(input, at, rowStride, of, tap, taps));
               return SmallVector<Value>();
             });
    matrix->end(sum);
  }

  /// The same from copied rows: columns from `width` on of row `height` of those copied, which is `row` of the result.
  void emitPaddedTile(Value row, Value height, Value width, const Columns &of, Value sum) {
    matrix->begin(of.lanes.size());
    int64_t together = g.dilation[2] == 1 ? g.window[2] : 1;
    auto [lower, upper] = tapBounds(k, g, 1, row);
    k.loop(lower, upper, 1, [&](Value tapHeight) {
      k.loop(k.index(0), k.index(g.window[2]), together, [&](Value tapWidth) {
        Value column = k.add(k.mul(width, g.stride[2]), k.mul(tapWidth, g.dilation[2]));
        Value at = k.add(padded->at(k, height, tapHeight), k.mul(column, conv.groupInputs));
        Value tap = k.add(k.mul(tapHeight, g.window[2]), tapWidth);
        matrix->add(loopOver(copies, at, g.stride[2] * conv.groupInputs, of, tap, k.index(together)));
      });
    });
    matrix->end(sum);
  }

  void emitMatrixRows(ArrayRef<Value> at, Value begin, Value end, int64_t firstVector, int64_t vectors) {
    Columns of = columnsOf(firstVector, vectors);
    if (!padded) return emitMatrixRows(at, begin, end, begin, of);
    k.loop(begin, end, conv.copiedRows(), [&](Value first) {
      Value last = k.add(first, conv.copiedRows());
      if (conv.copiedRows() > 1) last = k.min(last, end);
      padded->copy(k, input, copies, at[0], firstChannel(), first, last);
      emitMatrixRows(at, first, last, first, of);
    });
  }

  /// The rows [begin, end) of the result, of which `copied` is the first one whose inputs are copied.
  void emitMatrixRows(ArrayRef<Value> at, Value begin, Value end, Value copied, const Columns &of) {
    auto tileOf = [&](Value row, Value width, Value sum) {
      if (padded) return emitPaddedTile(row, k.sub(row, copied), width, of, sum);
      emitMatrixTile(rowTile(at, row, width), of, sum);
    };
    if (!conv.hasNarrowRows()) {
      k.loop(begin, end, 1, [&](Value row) {
        emitParts(rowTile(at, row, k.index(0)), g.out[2], of,
                  [&](const ConvTile &tile, Value sum) { tileOf(row, tile.width, sum); });
      });
      return;
    }
    // A row of sums is computed before the one above it is read.
    auto place = [&](Value row) { return k.mul(k.rem(k.sub(row, begin), 2), MatrixUnit::kPartRows); };
    auto compute = [&](Value row) {
      matrix->forTiles(g.out[2], [&](Value width) { tileOf(row, width, k.add(place(row), width)); });
    };
    auto store = [&](Value row) { storeSums(of, place(row), g.out[2], rowTile(at, row, k.index(0))); };
    compute(begin);
    Value last = k.sub(end, k.index(1));
    k.loop(begin, last, 1, [&](Value row) {
      compute(k.add(row, 1));
      store(row);
    });
    store(last);
  }

  /// `length` columns of a row without padding, or of samples, from those of a tile on.
  void emitMatrixLine(const ConvTile &begin, int64_t length, int64_t firstVector, int64_t vectors) {
    Columns of = columnsOf(firstVector, vectors);
    emitParts(begin, length, of, [&](const ConvTile &tile, Value sum) { emitMatrixTile(tile, of, sum); });
  }

  void emitParts(const ConvTile &begin, int64_t length, const Columns &of,
                 llvm::function_ref<void(const ConvTile &tile, Value sum)> emit) {
    auto from = [&](Value first) {
      ConvTile tile = begin;
      Value &moved = tile.kind == ConvTile::Rows::Samples ? tile.sample : tile.width;
      moved = k.add(moved, first);
      return tile;
    };
    matrix->forParts(
        length, [&](Value first, Value sum) { emit(from(first), sum); },
        [&](Value first, int64_t count, Value sum) { storeSums(of, sum, count, from(first)); });
  }

  ConvTile rowTile(ArrayRef<Value> at, Value row, Value width) const {
    return {ConvTile::Rows::Interior, at[0], at[1], row, width, 0, matrix->sizes.rows};
  }

  /// Sums of `count` rows of the result, from the first of a tile on.
  void storeSums(const Columns &of, Value firstSum, int64_t count, const ConvTile &tile) {
    Value row = firstResultRow(k, g, tile);
    epilogue.storeSums(k, {matrix->sums, firstSum, k.index(count), row, resultDistance(g, tile)}, of.values, of.masks,
                       of.lanes);
  }

  KernelBuilder &k;
  const PackedConvolution &conv;
  const ConvGeometry &g;
  const Epilogue &epilogue;
  Value input, panels;
  Type elementType;
  std::optional<MatrixUnit> matrix; // where the processor's matrix unit multiplies,
  std::optional<PaddedRows> padded; // and reads copies
  Value copies;
  Value group, panelTile;
  int64_t columns = 0; // of the tile
};

struct ConvPackedEmitter : ContractionEmitter<kernel::ConvPackedOp> {
  KernelPlan planOf(kernel::ConvPackedOp op, const Epilogue &epilogue) const override {
    PackedConvolution conv(op);
    if (conv.isGemm()) return conv.gemm().plan(epilogue);
    if (auto columns = columnsOf(conv, epilogue)) return columns->plan(epilogue);
    KernelPlan plan;
    plan.tiles = conv.tiles();
    plan.scratchBytes = plan.tiles ? conv.scratchBytes(epilogue) : 0;
    if (plan.tiles)
      plan.ranges = epilogue.tileRanges(conv.space(), conv.resultSteps(), [&](unsigned operand) {
        return operand == 0 ? conv.inputSteps() : conv.panelSteps();
      });
    return plan;
  }

  void emitOp(KernelBuilder &k, kernel::ConvPackedOp op, Epilogue &epilogue) const override {
    PackedConvolution conv(op);
    Value input = k.operandBuffer(op.getInput());
    Value panels = k.operandBuffer(op.getPanels());
    Type elementType = epilogue.rootType.getElementType();
    if (auto columns = columnsOf(conv, epilogue)) {
      columns->emit(k, std::move(epilogue), k.flat(input), {k.flat(panels), kPanelWidth});
      return;
    }
    epilogue.beginWithBias();
    if (conv.isGemm())
      conv.gemm().emit(k, epilogue, input, panels, elementType);
    else if (conv.tiles() > 0)
      ConvKernel(k, conv, epilogue, input, panels, elementType).emit();
  }

private:
  static std::optional<ConvColumns> columnsOf(const PackedConvolution &conv, const Epilogue &epilogue) {
    if (conv.isGemm() || conv.groups != 1 || conv.places.interleave != 1) return std::nullopt;
    ConvColumns columns(conv.geometry, epilogue.rootType);
    return columns.areWorthIt() ? std::optional(columns) : std::nullopt;
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createConvPackedEmitter() { return std::make_unique<ConvPackedEmitter>(); }
