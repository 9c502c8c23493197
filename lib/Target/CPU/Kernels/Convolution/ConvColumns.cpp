#include "lib/Target/CPU/Kernels/Convolution/ConvColumns.h"
#include "lib/Target/CPU/Kernels/Contraction/PanelPacking.h"
#include "lib/Target/CPU/Kernels/Contraction/RegisterTile.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

// A tile is about so many multiply-adds of vectors.
static constexpr int64_t kTileTaps = 250000;

ConvColumns::ConvColumns(const ConvGeometry &geometry, RankedTensorType result)
    : g(geometry), outputs(result.getShape().back()), elementType(result.getElementType()),
      tiles(geometry, 1, kTileTaps / std::max<int64_t>(geometry.inputChannels, 1)) {}

bool ConvColumns::areWorthIt() const {
  constexpr int64_t kMostBytes = 512 << 10; // stays in the second-level cache
  // A copied row has to serve several taps of vectors that are not nearly empty.
  int64_t leastColumns = g.inputChannels > 1 ? kLanes / 2 : 2;
  return outputs == 1 && g.inputChannels > 0 && g.stride[2] == 1 && g.low[2] >= 0 && g.out[2] >= leastColumns &&
         (g.inputChannels == 1 || g.taps() > 1) && scratchBytes() <= kMostBytes;
}

int64_t ConvColumns::rowLength() const {
  int64_t read = int64_t(llvm::alignTo(uint64_t(g.out[2]), kLanes)) + (g.window[2] - 1) * g.dilation[2];
  return int64_t(llvm::alignTo(uint64_t(std::max(read, g.low[2] + g.in[2])), kLanes));
}

int64_t ConvColumns::scratchBytes() const {
  if (!copiesRows() || tiles.count() == 0) return 0;
  return int64_t(llvm::alignTo(uint64_t(copiedElements()) * computeType(elementType).getIntOrFloatBitWidth() / 8, 64));
}

KernelPlan ConvColumns::plan(const Epilogue &epilogue) const {
  KernelPlan plan;
  plan.tiles = tiles.count();
  plan.scratchBytes = scratchBytes();
  if (plan.tiles)
    plan.ranges = epilogue.tileRanges(tiles.space(), tiles.resultSteps(), [&](unsigned operand) {
      return operand == 0 ? tiles.inputSteps() : SmallVector<TileStep>();
    });
  return plan;
}

namespace sprig::cpu {
class ConvColumnsKernel {
public:
  ConvColumnsKernel(KernelBuilder &kernel, const ConvColumns &conv, const Epilogue &epilogue, Value input,
                    ConvColumns::Weights weights)
      : k(kernel), conv(conv), g(conv.g), epilogue(epilogue), input(input), weights(weights),
        elementType(conv.elementType), type(computeType(conv.elementType)) {
    if (!conv.copiesRows()) return;
    rows = k.scratchBuffer(0, MemRefType::get({conv.copiedElements()}, type));
    k.loop(k.index(0), k.index(conv.copiedElements()), kLanes,
           [&](Value at) { k.store(k.zero(type, kLanes), rows, at, type); });
  }

  /// Rows [begin, end) of the result.
  void emit(Value sample, Value depth, Value begin, Value end) {
    SmallVector<Value> noneCopied;
    if (rows) noneCopied.push_back(k.index(0));
    k.loop(begin, end, 1, noneCopied, [&](Value height, ValueRange copied) {
      SmallVector<Value> copiedNow;
      if (rows) copiedNow.push_back(copyRows(sample, depth, height, copied.front()));
      emitRow(sample, depth, height);
      return copiedNow;
    });
  }

private:
  /// Where the copy of a row of the input lies, at a tap in depth.
  Value copyOf(Value tapDepth, Value inputRow) {
    Value slot = k.linearize({tapDepth, k.rem(inputRow, conv.spannedRows())}, {g.window[0], conv.spannedRows()});
    return k.mul(slot, g.inputChannels * conv.rowLength());
  }

  Value firstInput(int d, Value output) { return k.sub(k.mul(output, g.stride[d]), k.index(g.low[d])); }

  /// Copies the rows that row `height` of the result reads, from `next` on; returns the first one behind them.
  Value copyRows(Value sample, Value depth, Value height, Value next) {
    Value first = firstInput(1, height);
    Value end = k.min(k.add(first, conv.spannedRows()), k.index(g.in[1]));
    auto [depthLower, depthUpper] = tapBounds(k, g, 0, depth);
    k.loop(k.max(k.max(first, next), k.index(0)), end, 1, [&, dl = depthLower, du = depthUpper](Value row) {
      k.loop(dl, du, 1, [&](Value tapDepth) {
        Value inputDepth = k.add(firstInput(0, depth), k.mul(tapDepth, g.dilation[0]));
        Value from = k.linearize({sample, inputDepth, row, k.index(0)}, {g.batch, g.in[0], g.in[1], g.in[2]});
        copyRow(k.mul(from, g.inputChannels), k.add(copyOf(tapDepth, row), g.low[2]));
      });
    });
    return k.max(end, next);
  }

  void copyRow(Value from, Value to) {
    forVectors(g.in[2], [&](Value column, int64_t columns) {
      Value mask = columns < kLanes ? k.mask(columns) : Value();
      if (g.inputChannels == 1) {
        Value part = k.loadVector(input, k.add(from, column), elementType, mask, kLanes);
        return k.store(part, rows, k.add(to, column), type, mask);
      }
      forVectors(g.inputChannels, [&](Value channel, int64_t channels) {
        Value channelMask = channels < kLanes ? k.mask(channels) : Value();
        Value first = k.add(from, k.add(k.mul(column, g.inputChannels), channel));
        SmallVector<Value> lines;
        for (int64_t i = 0; i < kLanes; ++i)
          lines.push_back(i < columns
                              ? k.loadVector(input, k.add(first, i * g.inputChannels), elementType, channelMask, kLanes)
                              : k.zero(type, kLanes));
        turnLines(k, lines);
        Value plane = k.add(k.add(to, column), k.mul(channel, conv.rowLength()));
        for (int64_t i = 0; i < channels; ++i) k.store(lines[i], rows, k.add(plane, i * conv.rowLength()), type, mask);
      });
    });
  }

  /// Calls `body` for the vectors of so many elements, with the first element and how many there are.
  void forVectors(int64_t count, llvm::function_ref<void(Value first, int64_t elements)> body) {
    int64_t whole = count / kLanes * kLanes;
    k.loop(k.index(0), k.index(whole), kLanes, [&](Value first) { body(first, kLanes); });
    if (whole < count) body(k.index(whole), count - whole);
  }

  void emitRow(Value sample, Value depth, Value height) {
    Value row = k.linearize({sample, depth, height}, {g.batch, g.out[0], g.out[1]});
    auto block = [&](Value width, int64_t count) {
      TileColumns columns = tileColumns(k, width, llvm::divideCeil(count, kLanes), count);
      epilogue.store(k, sums(sample, depth, height, width, columns, count), row, columns.values, columns.masks);
    };
    constexpr int64_t kBlock = 4 * kLanes;
    int64_t whole = g.out[2] / kBlock * kBlock;
    k.loop(k.index(0), k.index(whole), kBlock, [&](Value width) { block(width, kBlock); });
    if (whole < g.out[2]) block(k.index(whole), g.out[2] - whole);
  }

  SmallVector<Value> sums(Value sample, Value depth, Value height, Value width, const TileColumns &columns,
                          int64_t count) {
    SmallVector<Value> initial;
    for (int64_t lanes : columns.lanes) initial.push_back(k.zero(type, lanes));
    return emitWindowRows(
        k, g, sample, depth, height, initial, [&](Value kd, Value kh, Value position, ValueRange carried) {
          Value taps = k.linearize({kd, kh, k.index(0)}, {g.window[0], g.window[1], g.window[2]});
          Value from = rows ? copyOf(kd, k.add(firstInput(1, height), k.mul(kh, g.dilation[1]))) : position;
          auto range = [&](Value lower, Value upper, ValueRange sums, bool leavesOut) {
            return k.loop(lower, upper, 1, sums, [&](Value tap, ValueRange before) {
              return addTap(k.add(taps, tap), k.add(width, k.mul(tap, g.dilation[2])), from, columns, before,
                            leavesOut);
            });
          };
          if (!g.hasPadding(2)) return range(k.index(0), k.index(g.window[2]), carried, false);
          // The taps that some column has inside the input, and those that all have.
          auto tapFrom = [&](Value distance) { return k.min(firstTapFrom(k, g, 2, distance), k.index(g.window[2])); };
          Value begin = k.sub(k.index(g.low[2]), width), end = k.add(begin, g.in[2]);
          Value some = tapFrom(k.sub(begin, k.index(count - 1))), someEnd = tapFrom(end);
          Value all = k.min(tapFrom(begin), someEnd), allEnd = k.max(all, tapFrom(k.sub(end, k.index(count - 1))));
          SmallVector<Value> left = range(some, all, carried, true);
          SmallVector<Value> middle = range(all, allEnd, left, false);
          return range(allEnd, someEnd, middle, true);
        });
  }

  /// All input channels of a tap. `column`: of the first lane among the copied ones.
  SmallVector<Value> addTap(Value tap, Value column, Value from, const TileColumns &columns, ValueRange sums,
                            bool leavesOut) {
    SmallVector<Value> isInside;
    for (auto [j, lanes] : llvm::enumerate(columns.lanes)) {
      if (!leavesOut) break;
      Value first = k.add(column, int64_t(j) * kLanes);
      Value before = k.mask(k.sub(k.index(g.low[2]), first), lanes);
      Value until = k.mask(k.sub(k.index(g.low[2] + g.in[2]), first), lanes);
      isInside.push_back(arith::XOrIOp::create(k.b, k.loc, before, until));
    }
    auto addChannel = [&](Value channel, Value plane, ValueRange sums) {
      Value weight =
          k.load(weights.buffer, k.mul(k.add(k.mul(tap, g.inputChannels), channel), weights.step), elementType);
      SmallVector<Value> results;
      for (auto [j, sum] : llvm::enumerate(sums)) {
        int64_t lanes = columns.lanes[j];
        Value at = k.add(plane, k.add(column, int64_t(j) * kLanes));
        Value x = rows ? k.loadVector(rows, at, type, Value(), lanes)
                       : k.loadVector(input, at, elementType, columns.masks[j], lanes);
        Value next = k.multiplyAdd(x, k.splat(weight, lanes), sum);
        results.push_back(leavesOut ? arith::SelectOp::create(k.b, k.loc, isInside[j], next, sum) : next);
      }
      return results;
    };
    if (g.inputChannels == 1) return addChannel(k.index(0), from, sums);
    return k.loop(k.index(0), k.index(g.inputChannels), 1, sums, [&](Value channel, ValueRange before) {
      return addChannel(channel, k.add(from, k.mul(channel, conv.rowLength())), before);
    });
  }

  KernelBuilder &k;
  const ConvColumns &conv;
  const ConvGeometry &g;
  const Epilogue &epilogue;
  Value input;
  ConvColumns::Weights weights;
  Value rows;             // copied ones
  Type elementType, type; // in memory and of sums
};
} // namespace sprig::cpu

void ConvColumns::emit(KernelBuilder &k, Epilogue epilogue, Value input, Weights weights) const {
  if (tiles.count() == 0) return;
  epilogue.dropUnitColumns();
  ConvColumnsKernel kernel(k, *this, epilogue, input, weights);
  tiles.forTiles(k, [&](Value sample, Value depth, Value begin, Value end) { kernel.emit(sample, depth, begin, end); });
}
