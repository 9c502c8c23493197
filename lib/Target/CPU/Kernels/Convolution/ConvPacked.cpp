// kernel.conv_packed with an epilogue: register tiles of output positions times panels of output channels.
#include "lib/Target/CPU/Kernels/Convolution/ConvGeometry.h"
#include "dialects/Kernel/KernelContraction.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "lib/Target/CPU/Kernels/Contraction/PackedGemm.h"
#include "lib/Target/CPU/Kernels/Contraction/RegisterTile.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;

namespace {
/// A packed convolution and how it is cut into tiles, by its shape alone.
struct Convolution {
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

  explicit Convolution(kernel::ConvPackedOp op) {
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
  void cutWidth(int64_t blocks) {
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

  bool isGemm() const { return groups == 1 && geometry.isPointwise(); }
  PackedGemm gemm() const {
    return {geometry.batch * geometry.positions(), groupOutputs, groupInputs, places.interleave};
  }
  int64_t depth() const { return geometry.taps() * groupInputs; }
  bool hasSmallPanels() const { return depth() * panels * kPanelWidth <= kSmallPanels; }
  /// Consecutive tiles share rows where the panels stay in the cache anyway, so that a thread that has a range of tiles
  /// reads what it wrote itself; else they share panels.
  bool rowsOutermost() const { return tiles() > groups * panelTiles && hasSmallPanels(); }
  int64_t tiles() const {
    int64_t perPanels = sampleRows ? geometry.positions() * sampleBlocks
                                   : geometry.batch * geometry.out[0] * heightBlocks * widthBlocks;
    return groups * panelTiles * perPanels;
  }

  /// The space of tiles, and what they touch along it.
  SmallVector<int64_t> space() const {
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
  SmallVector<TileStep> inputSteps() const {
    int64_t sample = geometry.rowStride(/*samples=*/true);
    SmallVector<TileStep> steps = sampleRows ? samples(sample) : geometry.inputSteps(blockHeight);
    if (widthBlocks > 1) steps.push_back(geometry.inputColumns(blockWidth));
    return withPanels(geometry.batch * sample, std::move(steps));
  }
  SmallVector<TileStep> resultSteps() const {
    int64_t channels = groups * groupOutputs, sample = geometry.positions() * channels;
    SmallVector<TileStep> steps = sampleRows ? samples(sample) : geometry.resultSteps(blockHeight, channels);
    if (widthBlocks > 1) steps.push_back(geometry.resultColumns(blockWidth, channels));
    return withPanels(geometry.batch * sample, std::move(steps));
  }
  SmallVector<TileStep> panelSteps() const {
    int64_t size = places.size(), group = panels * size, tile = tilePanels * size;
    SmallVector<TileStep> steps(space().size(), {0, 0, rowsOutermost() ? group : tile});
    steps[0] = {group, 0, group};
    steps[rowsOutermost() ? steps.size() - 1 : 1] = {tile, 0, tile};
    return steps;
  }

private:
  SmallVector<TileStep> samples(int64_t size) const {
    return {{blockSamples * size, 0, blockSamples * size}, {0, 0, blockSamples * size}};
  }
  /// The steps of rows in the order of the space; groups and panels touch channels all over them.
  SmallVector<TileStep> withPanels(int64_t all, SmallVector<TileStep> steps) const {
    if (rowsOutermost())
      steps.push_back({0, steps.back().begin, steps.back().extent});
    else
      steps.insert(steps.begin(), TileStep{0, 0, all});
    steps.insert(steps.begin(), TileStep{0, 0, all});
    return steps;
  }
};

/// Emits one tile of panels for given output rows.
class ConvKernel {
public:
  ConvKernel(KernelBuilder &kernel, const Convolution &conv, const Epilogue &epilogue, Value input, Value panels,
             Type elementType)
      : k(kernel), conv(conv), g(conv.geometry), epilogue(epilogue), input(k.flat(input)), panels(k.flat(panels)),
        elementType(elementType) {}

  void emit() {
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

private:
  void emitRows(Value position) {
    SmallVector<Value> at = k.delinearize(position, {g.batch, g.out[0], conv.heightBlocks, conv.widthBlocks});
    Value begin = k.mul(at[2], conv.blockHeight);
    Value end = k.min(k.add(begin, conv.blockHeight), k.index(g.out[1]));
    forColumns(conv.blockWidth, [&](int64_t firstVector, int64_t vectors) {
      int64_t most = mostRows(vectors, /*samples=*/false);
      auto emit = [&](const ConvTile &tile) { emitTile(tile, firstVector, vectors); };
      k.loop(begin, end, 1, [&](Value height) {
        auto columns = [&](int64_t first, int64_t last) {
          forWidthTiles(k, g, at[0], at[1], height, most, emit, std::pair(first, last));
        };
        int64_t wide = conv.blockWidth, lastBlock = conv.widthBlocks - 1;
        if (lastBlock == 0) return columns(0, g.out[2]);
        auto is = [&](int64_t block) -> Value {
          return arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::eq, at[3], k.index(block));
        };
        auto inside = [&] {
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

  void emitTile(const ConvTile &tile, int64_t firstVector, int64_t vectors) {
    int64_t panelSize = conv.places.size(), step = conv.places.interleave;
    Value panel = k.add(k.mul(group, conv.panels), k.mul(panelTile, conv.tilePanels));
    Value panelBase = k.add(k.mul(panel, panelSize), firstVector / 2 * panelSize + firstVector % 2 * kLanes * step);
    Value firstChannel = k.mul(group, conv.groupInputs);
    bool merge = conv.groups == 1 && g.dilation[2] == 1;

    int64_t tileColumns = columns - firstVector * kLanes;
    SmallVector<int64_t> lanes = vectorLanes(std::min(tileColumns, vectors * kLanes));
    SmallVector<Value> columnValues, masks;
    Value firstColumn = k.add(k.mul(group, conv.groupOutputs),
                              k.add(k.mul(panelTile, conv.tilePanels * kPanelWidth), firstVector * kLanes));
    for (int64_t j = 0; j < vectors; ++j) {
      columnValues.push_back(k.add(firstColumn, j * kLanes));
      masks.push_back(laneMask(k, tileColumns - j * kLanes, lanes[j]));
    }
    SmallVector<Value> accumulators =
        emitTaps(k, g, tile, merge, epilogue.initialTile(k, tile.rows, columnValues, masks, lanes),
                 [&](ValueRange carried, Value position, int64_t rowStride, Value tap, Value taps) {
                   ContractionLoop loop;
                   loop.left = input;
                   loop.leftBase = k.add(position, firstChannel);
                   loop.leftRowStride = rowStride;
                   loop.right = panels;
                   for (int64_t j = 0; j < vectors; ++j)
                     loop.rightOffsets.push_back(j / 2 * panelSize + j % 2 * kLanes * step);
                   loop.elementType = elementType;
                   loop.isPart = true; // how many taps come as one depends on the tile
                   if (conv.groupInputs % step == 0) {
                     int64_t perTap = conv.groupInputs / step;
                     loop.rightBase = k.add(panelBase, k.mul(tap, perTap * kPanelWidth * step));
                     loop.takeSteps(k.mul(taps, perTap), conv.places.interleave, 0);
                   } else { // no padding: whole runs
                     int64_t run = conv.places.run, rowsOfRun = conv.places.runRows() * kPanelWidth * step;
                     loop.rightBase = k.add(panelBase, k.mul(k.div(tap, run / conv.groupInputs), rowsOfRun));
                     loop.takeSteps(k.index(run / step), conv.places.interleave, run % step);
                   }
                   return emitContraction(k, loop, carried);
                 });

    SmallVector<Value> rows = resultRows(k, g, tile);
    if (tile.kind == ConvTile::Rows::Samples)
      epilogue.store(k, accumulators, rows, columnValues, masks);
    else
      epilogue.storeRows(k, accumulators, rows.front(), columnValues, masks, /*stage=*/0);
  }

  KernelBuilder &k;
  const Convolution &conv;
  const ConvGeometry &g;
  const Epilogue &epilogue;
  Value input, panels;
  Type elementType;
  Value group, panelTile;
  int64_t columns = 0; // of the tile
};

class ConvPackedEmitter : public ContractionEmitter {
public:
  StringRef name() const override { return "conv_packed"; }
  bool matches(kernel::DispatchOp dispatch) const override { return analyze(dispatch).has_value(); }

  KernelPlan plan(kernel::DispatchOp dispatch) const override {
    Epilogue epilogue = *analyze(dispatch);
    auto op = cast<kernel::ConvPackedOp>(epilogue.root);
    Convolution conv(op);
    if (conv.isGemm()) return conv.gemm().plan(epilogue);
    KernelPlan plan;
    plan.tiles = conv.tiles();
    plan.scratchBytes = plan.tiles && !conv.sampleRows ? epilogue.stageBytes() : 0;
    if (plan.tiles)
      plan.ranges = epilogue.tileRanges(conv.space(), conv.resultSteps(), [&](unsigned operand) {
        return operand == 0 ? conv.inputSteps() : conv.panelSteps();
      });
    return plan;
  }

  LogicalResult emit(kernel::DispatchOp dispatch, KernelBuilder &k) const override {
    Epilogue epilogue = *analyze(dispatch);
    auto op = cast<kernel::ConvPackedOp>(epilogue.root);
    Convolution conv(op);
    Value input = k.operandBuffer(cast<BlockArgument>(op.getInput()));
    Value panels = k.operandBuffer(cast<BlockArgument>(op.getPanels()));
    Type elementType = epilogue.rootType.getElementType();
    epilogue.beginWithBias();
    if (conv.isGemm())
      conv.gemm().emit(k, epilogue, input, panels, elementType);
    else if (conv.tiles() > 0)
      ConvKernel(k, conv, epilogue, input, panels, elementType).emit();
    return success();
  }

private:
  static std::optional<Epilogue> analyze(kernel::DispatchOp dispatch) {
    return Epilogue::analyze(dispatch, [](Operation *op) { return isa<kernel::ConvPackedOp>(op); });
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::createConvPackedEmitter() { return std::make_unique<ConvPackedEmitter>(); }
