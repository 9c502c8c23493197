#include "lib/Target/CPU/Kernels/Convolution/ConvGeometry.h"
#include "lib/Target/CPU/Kernels/Contraction/RegisterTile.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

ConvGeometry ConvGeometry::get(RankedTensorType input, RankedTensorType result, ArrayRef<int64_t> window,
                               ArrayRef<int64_t> strides, ArrayRef<int64_t> dilations, ArrayRef<int64_t> padding) {
  ConvGeometry g;
  g.batch = input.getDimSize(0);
  g.inputChannels = input.getShape().back();
  int64_t spatial = window.size();
  for (int64_t i = 0; i < spatial; ++i) {
    int64_t d = 3 - spatial + i;
    g.in[d] = input.getDimSize(1 + i);
    g.out[d] = result.getDimSize(1 + i);
    g.window[d] = window[i];
    g.stride[d] = strides[i];
    g.dilation[d] = dilations[i];
    g.low[d] = padding[i];
  }
  return g;
}

bool ConvGeometry::hasPadding(int d) const {
  return low[d] > 0 || (out[d] - 1) * stride[d] - low[d] + (window[d] - 1) * dilation[d] >= in[d];
}

ChannelTiles::ChannelTiles(const ConvGeometry &geometry, int64_t channels, int64_t taps, int64_t together)
    : geometry(geometry), channels(channels) {
  int64_t height = std::max<int64_t>(geometry.out[1], 1);
  int64_t perRow = std::max<int64_t>(geometry.taps() * channels * geometry.out[2], 1);
  blockHeight = std::clamp<int64_t>(taps / perRow, 1, height);
  if (geometry.batch * geometry.out[0] == 1 && blockHeight == height)
    blockHeight = llvm::divideCeil(height, ConvGeometry::halvesOf(height));
  blockHeight = llvm::alignTo(blockHeight, together);
  heightBlocks = llvm::divideCeil(height, blockHeight);
}

void ChannelTiles::forTiles(KernelBuilder &k, llvm::function_ref<void(Value, Value, Value, Value)> body) const {
  k.forTiles([&](Value index) {
    SmallVector<Value> at = k.delinearize(index, space());
    Value begin = k.mul(at[2], blockHeight);
    body(at[0], at[1], begin, k.min(k.add(begin, blockHeight), k.index(geometry.out[1])));
  });
}

bool ConvGeometry::isPointwise() const {
  for (int d = 0; d < 3; ++d)
    if (window[d] != 1 || stride[d] != 1 || hasPadding(d) || in[d] != out[d]) return false;
  return true;
}

std::pair<int64_t, int64_t> ConvGeometry::interiorColumns() const {
  int64_t first = llvm::divideCeil(std::max<int64_t>(low[2], 0), stride[2]);
  int64_t last = in[2] - 1 - (window[2] - 1) * dilation[2] + low[2]; // largest column * stride
  int64_t end = last < 0 ? 0 : last / stride[2] + 1;
  first = std::min(first, out[2]);
  return {first, std::clamp(end, first, out[2])};
}

std::pair<int64_t, int64_t> ConvGeometry::tapsAt(int64_t column) const {
  int64_t start = column * stride[2] - low[2];
  auto firstTapFrom = [&](int64_t distance) {
    return std::min<int64_t>(distance <= 0 ? 0 : llvm::divideCeil(distance, dilation[2]), window[2]);
  };
  int64_t first = firstTapFrom(-start);
  return {first, std::max(first, firstTapFrom(in[2] - start))};
}

SmallVector<TileStep> ConvGeometry::inputSteps(int64_t blockHeight) const {
  int64_t row = in[2] * inputChannels, plane = in[1] * row, sample = in[0] * plane;
  auto reach = [&](int d) { return (window[d] - 1) * dilation[d]; };
  return {{sample, 0, sample},
          {stride[0] * plane, -low[0] * plane, (reach(0) + 1) * plane},
          {blockHeight * stride[1] * row, -low[0] * plane - low[1] * row,
           reach(0) * plane + ((blockHeight - 1) * stride[1] + reach(1) + 1) * row}};
}

SmallVector<TileStep> ConvGeometry::resultSteps(int64_t blockHeight, int64_t channels) const {
  int64_t row = out[2] * channels, plane = out[1] * row, block = blockHeight * row;
  return {{positions() * channels, 0, positions() * channels}, {plane, 0, plane}, {block, 0, block}};
}

TileStep ConvGeometry::inputColumns(int64_t blockWidth) const {
  TileStep rows = inputSteps(/*blockHeight=*/1).back();
  int64_t row = in[2] * inputChannels, reach = (window[2] - 1) * dilation[2];
  int64_t columns = ((blockWidth - 1) * stride[2] + reach + 1) * inputChannels;
  return {blockWidth * stride[2] * inputChannels, rows.begin - low[2] * inputChannels, rows.extent - row + columns};
}

TileStep ConvGeometry::resultColumns(int64_t blockWidth, int64_t channels) const {
  return {blockWidth * channels, 0, blockWidth * channels};
}

Value sprig::cpu::firstTapFrom(KernelBuilder &k, const ConvGeometry &g, int d, Value distance) {
  return k.div(k.add(k.max(distance, k.index(0)), g.dilation[d] - 1), g.dilation[d]);
}

std::pair<Value, Value> sprig::cpu::tapBounds(KernelBuilder &k, const ConvGeometry &g, int d, Value o) {
  if (!g.hasPadding(d)) return {k.index(0), k.index(g.window[d])};
  Value start = k.sub(k.mul(o, g.stride[d]), k.index(g.low[d]));
  Value lower = firstTapFrom(k, g, d, k.sub(k.index(0), start));
  Value upper = firstTapFrom(k, g, d, k.sub(k.index(g.in[d]), start));
  return {lower, k.min(upper, k.index(g.window[d]))};
}

/// The input index of tap `tap` of dimension `d` at output index `o`.
static Value inputIndex(KernelBuilder &k, const ConvGeometry &g, int d, Value o, Value tap) {
  Value start = k.sub(k.mul(o, g.stride[d]), k.index(g.low[d]));
  return k.add(start, k.mul(tap, g.dilation[d]));
}

namespace {
/// The taps in width of one row of the window, for the three kinds of tiles.
struct WidthTaps {
  KernelBuilder &k;
  const ConvGeometry &g;
  const ConvTile &tile;
  bool merge;
  TapBody body;
  Value inputRow;  // linear position of the input row's column 0, channels left out
  Value windowRow; // linear index of the window row's tap 0

  int64_t rowStride() const { return g.rowStride(tile.kind == ConvTile::Rows::Samples); }
  SmallVector<Value> at(ValueRange accumulators, Value column, Value tap, Value taps) {
    return body(accumulators, k.mul(k.add(inputRow, column), g.inputChannels), rowStride(), k.add(windowRow, tap),
                taps);
  }

  SmallVector<Value> range(ValueRange accumulators, Value lower, Value upper) {
    if (merge) return at(accumulators, inputIndex(k, g, 2, tile.width, lower), lower, k.sub(upper, lower));
    return k.loop(lower, upper, 1, accumulators, [&](Value tap, ValueRange carried) {
      return at(carried, inputIndex(k, g, 2, tile.width, tap), tap, k.index(1));
    });
  }

  /// Rows of an edge tile that have tap `tap` inside the input.
  std::pair<int64_t, int64_t> validRows(int64_t tap) const {
    int64_t first = tile.rows, end = 0;
    for (int64_t i = 0; i < tile.rows; ++i) {
      int64_t column = (tile.edgeWidth + i) * g.stride[2] - g.low[2] + tap * g.dilation[2];
      if (column < 0 || column >= g.in[2]) continue;
      first = std::min(first, i);
      end = i + 1;
    }
    return {first, std::max(first, end)};
  }

  SmallVector<Value> edge(ValueRange initial) {
    SmallVector<Value> accumulators(initial);
    int64_t vectors = accumulators.size() / tile.rows;
    for (int64_t tap = 0, next; tap < g.window[2]; tap = next) {
      next = tap + 1;
      auto [first, end] = validRows(tap);
      if (first >= end) continue;
      while (merge && next < g.window[2] && validRows(next) == std::make_pair(first, end)) ++next;
      int64_t column = (tile.edgeWidth + first) * g.stride[2] - g.low[2] + tap * g.dilation[2];
      SmallVector<Value> part(ArrayRef<Value>(accumulators).slice(first * vectors, (end - first) * vectors));
      SmallVector<Value> results = at(part, k.index(column), k.index(tap), k.index(next - tap));
      llvm::copy(results, accumulators.begin() + first * vectors);
    }
    return accumulators;
  }

  SmallVector<Value> run(ValueRange accumulators) {
    switch (tile.kind) {
    case ConvTile::Rows::Edge: return edge(accumulators);
    case ConvTile::Rows::Interior: return range(accumulators, k.index(0), k.index(g.window[2]));
    case ConvTile::Rows::Alike:
    case ConvTile::Rows::Samples: break;
    }
    auto [lower, upper] = tapBounds(k, g, 2, tile.width);
    return range(accumulators, lower, upper);
  }
};
} // namespace

SmallVector<Value>
sprig::cpu::emitWindowRows(KernelBuilder &k, const ConvGeometry &g, Value sample, Value depth, Value height,
                           ValueRange accumulators,
                           llvm::function_ref<SmallVector<Value>(Value, Value, Value, ValueRange)> body) {
  auto [depthLower, depthUpper] = tapBounds(k, g, 0, depth);
  auto [heightLower, heightUpper] = tapBounds(k, g, 1, height);
  return k.loop(
      depthLower, depthUpper, 1, accumulators, [&, hl = heightLower, hu = heightUpper](Value kd, ValueRange outer) {
        return k.loop(hl, hu, 1, outer, [&](Value kh, ValueRange inner) {
          Value inputRow =
              k.linearize({sample, inputIndex(k, g, 0, depth, kd), inputIndex(k, g, 1, height, kh), k.index(0)},
                          {g.batch, g.in[0], g.in[1], g.in[2]});
          return body(kd, kh, inputRow, inner);
        });
      });
}

SmallVector<Value> sprig::cpu::emitTaps(KernelBuilder &k, const ConvGeometry &g, const ConvTile &tile, bool mergeTaps,
                                        ValueRange accumulators, TapBody body) {
  return emitWindowRows(k, g, tile.sample, tile.depth, tile.height, accumulators,
                        [&](Value kd, Value kh, Value inputRow, ValueRange inner) {
                          Value windowRow = k.linearize({kd, kh, k.index(0)}, g.window);
                          return WidthTaps{k, g, tile, mergeTaps, body, inputRow, windowRow}.run(inner);
                        });
}

namespace {
/// So many pieces of columns, one after the other and of one length, of which each has the same taps at all columns.
struct Pieces {
  int64_t begin, length, count;
};
} // namespace

/// The columns [begin, end) in pieces; single columns where the pieces' lengths differ too much.
static SmallVector<Pieces> piecesOf(const ConvGeometry &g, int64_t begin, int64_t end) {
  constexpr size_t kMostRuns = 4; // each is code of its own
  SmallVector<Pieces> runs;
  for (int64_t column = begin, next; column < end; column = next) {
    next = column + 1;
    while (next < end && g.tapsAt(next) == g.tapsAt(column)) ++next;
    if (!runs.empty() && runs.back().length == next - column)
      ++runs.back().count;
    else
      runs.push_back({column, next - column, 1});
  }
  if (runs.size() > kMostRuns) return {{begin, 1, end - begin}};
  return runs;
}

void sprig::cpu::forWidthTiles(KernelBuilder &k, const ConvGeometry &g, Value sample, Value depth, Value height,
                               int64_t mostRows, llvm::function_ref<void(const ConvTile &)> body,
                               std::optional<std::pair<int64_t, int64_t>> columns) {
  auto [first, last] = columns.value_or(std::pair<int64_t, int64_t>(0, g.out[2]));
  const auto [inside, outside] = g.interiorColumns();
  const int64_t interiorBegin = std::clamp(inside, first, last), interiorEnd = std::clamp(outside, interiorBegin, last);
  auto make = [&](ConvTile::Rows kind, Value width, int64_t edgeWidth, int64_t rows) {
    body(ConvTile{kind, sample, depth, height, width, edgeWidth, rows});
  };

  // The tiles of a balanced split; those that touch the padding are edges.
  using Tile = std::pair<int64_t, int64_t>; // first column, rows
  auto tilesOf = [&](int64_t column, int64_t end) {
    RowSplit split = splitRows(end - column, mostRows);
    SmallVector<Tile> tiles;
    for (int64_t i = 0; i < split.count + split.smallerCount; ++i) {
      int64_t rows = i < split.count ? split.rows : split.rows - 1;
      tiles.push_back({column, rows});
      column += rows;
    }
    return tiles;
  };
  auto isInterior = [begin = inside, end = outside](Tile tile) {
    return tile.first >= begin && tile.first + tile.second <= end;
  };

  // Unrolled edges grow with the window. Those of windows that are very wide, by taps or by their distance, are cut
  // where the taps inside the input change: of the whole row, whatever part of it this is.
  constexpr int64_t kMostUnrolledTaps = 48;
  int64_t edges = llvm::count_if(tilesOf(0, g.out[2]), [&](Tile tile) { return !isInterior(tile); });
  if (edges * g.window[2] > kMostUnrolledTaps) {
    auto edge = [&](int64_t begin, int64_t end) {
      for (const Pieces &pieces : piecesOf(g, begin, end))
        k.loop(k.index(pieces.begin), k.index(pieces.begin + pieces.count * pieces.length), pieces.length,
               [&](Value piece) {
                 forRowTiles(k, piece, splitRows(pieces.length, mostRows),
                             [&](Value first, int64_t rows) { make(ConvTile::Rows::Alike, first, 0, rows); });
               });
    };
    edge(first, interiorBegin);
    forRowTiles(k, k.index(interiorBegin), splitRows(interiorEnd - interiorBegin, mostRows),
                [&](Value first, int64_t rows) { make(ConvTile::Rows::Interior, first, 0, rows); });
    edge(interiorEnd, last);
    return;
  }

  SmallVector<Tile> tiles = tilesOf(first, last);
  for (size_t i = 0; i < tiles.size();) {
    auto [column, rows] = tiles[i];
    if (!isInterior(tiles[i])) {
      make(ConvTile::Rows::Edge, k.index(column), column, rows);
      ++i;
      continue;
    }
    size_t end = i;
    while (end < tiles.size() && isInterior(tiles[end]) && tiles[end].second == rows) ++end;
    k.loop(k.index(column), k.index(column + static_cast<int64_t>(end - i) * rows), rows,
           [&, rows = rows](Value width) { make(ConvTile::Rows::Interior, width, 0, rows); });
    i = end;
  }
}

Value sprig::cpu::firstResultRow(KernelBuilder &k, const ConvGeometry &g, const ConvTile &tile) {
  return k.linearize({tile.sample, tile.depth, tile.height, tile.width}, {g.batch, g.out[0], g.out[1], g.out[2]});
}

int64_t sprig::cpu::resultDistance(const ConvGeometry &g, const ConvTile &tile) {
  return tile.kind == ConvTile::Rows::Samples ? g.positions() : 1;
}

SmallVector<Value> sprig::cpu::resultRows(KernelBuilder &k, const ConvGeometry &g, const ConvTile &tile) {
  Value first = firstResultRow(k, g, tile);
  int64_t distance = resultDistance(g, tile);
  SmallVector<Value> rows;
  for (int64_t i = 0; i < tile.rows; ++i) rows.push_back(k.add(first, i * distance));
  return rows;
}
