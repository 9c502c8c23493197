// kernel.conv_depthwise_dot with an epilogue: words of taps for a row of the result (TapWords), then their products
// with the filter's. Vectors run over channels, a register tile holds neighbours in width.
#include "dialects/Kernel/KernelContraction.h"
#include "lib/Target/CPU/Kernels/Contraction/DotProduct.h"
#include "lib/Target/CPU/Kernels/Contraction/RegisterTile.h"
#include "lib/Target/CPU/Kernels/Convolution/TapWords.h"
#include "lib/Target/CPU/Kernels/Elementwise/Epilogue.h"
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
struct DepthwiseDot : ChannelTiles {
  kernel::DepthwisePlaces places;
  // A word of four taps holds what two rows of the result take that are neighbours, where each has up to three taps:
  // the words are those of a window that is taller by one then.
  int64_t rowsTogether;
  ConvGeometry wordGeometry;
  kernel::DepthwisePlaces wordPlaces;
  int64_t blockChannels; // of which words are made at once
  int64_t blockColumns;  // of the result

  explicit DepthwiseDot(kernel::ConvDepthwiseDotOp op) : DepthwiseDot(op, geometryOf(op)) {}

  int64_t reach() const { return (geometry.window[2] - 1) * geometry.dilation[2]; }
  /// Columns of the input that so many of the result take.
  int64_t inputColumns(int64_t columns) const { return (columns - 1) * geometry.stride[2] + reach() + 1; }
  int64_t wordCount() const { return places.rows() * inputColumns(blockColumns) * blockChannels + TapWords::kSlack; }
  int64_t wordBytes() const { return llvm::alignTo(4 * wordCount(), 64); }

private:
  DepthwiseDot(kernel::ConvDepthwiseDotOp op, const ConvGeometry &geometry)
      : ChannelTiles(geometry, cast<RankedTensorType>(op.getResult().getType()).getShape().back(), 500000,
                     togetherIn(geometry)),
        places(kernel::DepthwisePlaces::get(op.getWindow(), channels)), rowsTogether(togetherIn(geometry)) {
    wordGeometry = geometry;
    wordGeometry.window[1] += rowsTogether - 1;
    wordPlaces = {places.above + rowsTogether - 1, places.width, channels};
    // Words stay in the first-level cache until they are read.
    constexpr int64_t kMostChannels = 64, kMostWords = 4096, kFewColumns = 16;
    blockChannels = std::min(channels, kMostChannels);
    int64_t fitting = kMostWords / std::max<int64_t>(places.rows() * blockChannels, 1) - reach();
    blockColumns = std::clamp<int64_t>(fitting / geometry.stride[2], std::min(kFewColumns, geometry.out[2]),
                                       std::max<int64_t>(geometry.out[2], 1));
  }

  static ConvGeometry geometryOf(kernel::ConvDepthwiseDotOp op) {
    return ConvGeometry::get(cast<RankedTensorType>(op.getInput().getType()),
                             cast<RankedTensorType>(op.getResult().getType()), op.getWindow(), op.getStrides(),
                             op.getDilations(), op.getPadding());
  }
  static int64_t togetherIn(const ConvGeometry &g) {
    constexpr int64_t kMostPairedTaps = kernel::DepthwisePlaces::kTogether - 1;
    bool arePaired = g.window[0] == 1 && g.window[1] <= kMostPairedTaps && g.stride[1] == 1 && g.dilation[1] == 1;
    return arePaired && g.out[1] > 1 ? 2 : 1;
  }
};

class DepthwiseDotKernel {
public:
  DepthwiseDotKernel(KernelBuilder &kernel, const DepthwiseDot &conv, const Epilogue &epilogue, Value input,
                     Value filter, int64_t fill)
      : k(kernel), conv(conv), g(conv.geometry), epilogue(epilogue), filter(k.flat(filter)),
        words(k.scratchBuffer(0, MemRefType::get({conv.wordCount()}, k.b.getI32Type()))),
        tapWords(k, conv.wordGeometry, conv.wordPlaces, fill, k.flat(input), words) {}

  void emit() {
    conv.forTiles(k, [&](Value ofSample, Value ofDepth, Value begin, Value end) {
      sample = ofSample, depth = ofDepth;
      int64_t together = conv.rowsTogether;
      Value single = k.add(begin, k.mul(k.div(k.sub(end, begin), together), together));
      k.loop(begin, single, together, [&](Value height) { emitRows(height, together); });
      if (g.out[1] % together) k.loop(single, end, 1, [&](Value height) { emitRows(height, 1); });
    });
  }

private:
  void emitRows(Value height, int64_t rows) {
    row = height;
    int64_t whole = conv.channels / conv.blockChannels * conv.blockChannels;
    k.loop(k.index(0), k.index(whole), conv.blockChannels,
           [&](Value channel) { emitChannels(rows, channel, conv.blockChannels); });
    if (whole < conv.channels) emitChannels(rows, k.index(whole), conv.channels - whole);
  }

  void emitChannels(int64_t rows, Value channel, int64_t count) {
    forRowTiles(k, k.index(0), splitRows(g.out[2], conv.blockColumns), [&](Value first, int64_t columns) {
      int64_t inputColumns = conv.inputColumns(columns);
      Value begin = k.sub(k.mul(first, g.stride[2]), k.index(g.low[2]));
      tapWords.make({sample, depth, row, begin, channel, inputColumns, count});
      auto vectors = [&](Value inBlock, int64_t valid) {
        for (int64_t below = 0; below < rows; ++below)
          forRowTiles(k, k.index(0), splitRows(columns, mostColumns()), [&](Value column, int64_t width) {
            emitTile({first, column, channel, inBlock, below, width, valid, inputColumns, count});
          });
      };
      int64_t whole = count / kLanes * kLanes;
      k.loop(k.index(0), k.index(whole), kLanes, [&](Value inBlock) { vectors(inBlock, kLanes); });
      if (whole < count) vectors(k.index(whole), count - whole);
    });
  }

  int64_t mostColumns() const {
    return maxTileRows(k.target, k.b.getI32Type(), 1, /*rowStride=*/0, kernel::DepthwisePlaces::kTogether);
  }

  /// A register tile: `width` columns from `column` on of those whose words begin at `first`, `valid` channels, so many
  /// rows `below` the first that the words are for.
  struct Tile {
    Value first, column, channel, inBlock;
    int64_t below, width, valid, inputColumns, count;
  };
  void emitTile(const Tile &tile) {
    Type i32 = k.b.getI32Type();
    DotProduct dot(k, kernel::DepthwisePlaces::kTogether);
    int64_t lanes = vectorLanes(tile.valid).front(), columnStride = g.stride[2] * tile.count;
    auto lane = VectorType::get({lanes}, i32);
    Value channel = k.add(tile.channel, tile.inBlock);
    Value mask = laneMask(k, tile.valid, lanes);
    SmallVector<Value> sums = epilogue.initialTile(k, tile.width, channel, mask, lanes);
    auto taps = [&](Value group, Value tap, ValueRange carried) {
      Value weight = k.add(k.mul(group, g.window[2]), tap);
      weight = k.mul(k.add(k.mul(weight, conv.places.paddedChannels()), channel), kernel::DepthwisePlaces::kTogether);
      DotProduct::Side right = dot.right(weightsOf(weight, lanes, tile.below), lanes);
      Value word = k.add(k.mul(group, tile.inputColumns), k.mul(tap, g.dilation[2]));
      word = k.add(k.add(k.mul(word, tile.count), k.mul(tile.column, columnStride)), tile.inBlock);
      SmallVector<Value> results;
      for (auto [i, sum] : llvm::enumerate(carried)) {
        Value at = k.add(word, static_cast<int64_t>(i) * columnStride);
        Value left = vector::LoadOp::create(k.b, k.loc, lane, words, ValueRange{at});
        results.push_back(dot.accumulate(dot.left(left), right, sum));
      }
      return results;
    };
    constexpr int64_t kUnrolled = 4;
    if (conv.places.rows() == 1 && g.window[2] <= kUnrolled)
      for (int64_t tap = 0; tap < g.window[2]; ++tap) sums = taps(k.index(0), k.index(tap), sums);
    else
      sums = k.loop(k.index(0), k.index(conv.places.rows()), 1, sums, [&](Value group, ValueRange outer) {
        return k.loop(k.index(0), k.index(g.window[2]), 1, outer,
                      [&](Value tap, ValueRange inner) { return taps(group, tap, inner); });
      });
    Value first = k.linearize({sample, depth, k.add(row, tile.below), k.add(tile.first, tile.column)},
                              {g.batch, g.out[0], g.out[1], g.out[2]});
    epilogue.storeRows(k, sums, first, channel, mask, conv.wordBytes());
  }

  /// The filter's words for a row so far below the one that the words of taps begin with: its taps come as much later.
  Value weightsOf(Value offset, int64_t lanes, int64_t below) {
    auto bytes = VectorType::get({kernel::DepthwisePlaces::kTogether * lanes}, k.b.getI8Type());
    Value weights = vector::LoadOp::create(k.b, k.loc, bytes, filter, ValueRange{offset});
    if (below == 0) return weights;
    auto type = VectorType::get({lanes}, k.b.getI32Type());
    Value distance = k.constant(k.b.getI32Type(), 8 * below, lanes);
    Value moved = arith::ShLIOp::create(k.b, k.loc, vector::BitCastOp::create(k.b, k.loc, type, weights), distance);
    return vector::BitCastOp::create(k.b, k.loc, bytes, moved);
  }

  KernelBuilder &k;
  const DepthwiseDot &conv;
  const ConvGeometry &g;
  const Epilogue &epilogue;
  Value filter, words;
  TapWords tapWords;
  Value sample, depth, row; // of the result
};

struct ConvDepthwiseDotEmitter : ContractionEmitter<kernel::ConvDepthwiseDotOp> {
  KernelPlan planOf(kernel::ConvDepthwiseDotOp op, const Epilogue &epilogue) const override {
    DepthwiseDot conv(op);
    KernelPlan plan;
    plan.tiles = conv.count();
    if (!plan.tiles) return plan;
    plan.scratchBytes = conv.wordBytes() + epilogue.stageBytes();
    plan.ranges = epilogue.tileRanges(conv.space(), conv.resultSteps(), [&](unsigned operand) {
      return operand == 0 ? conv.inputSteps() : SmallVector<TileStep>();
    });
    return plan;
  }

  void emitOp(KernelBuilder &k, kernel::ConvDepthwiseDotOp op, Epilogue &epilogue) const override {
    DepthwiseDot conv(op);
    if (conv.count() == 0) return;
    epilogue.beginWithBias();
    DepthwiseDotKernel(k, conv, epilogue, k.operandBuffer(op.getInput()), k.operandBuffer(op.getFilter()), op.getFill())
        .emit();
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createConvDepthwiseDotEmitter() {
  return std::make_unique<ConvDepthwiseDotEmitter>();
}
