// kernel.conv_depthwise with an epilogue: vectors run over channels, a register tile holds neighbours in width. Of a
// single channel vectors run over columns, which are next to each other in memory.
#include "lib/Target/CPU/Kernels/Convolution/ConvGeometry.h"
#include "dialects/Kernel/KernelContraction.h"
#include "dialects/Kernel/KernelDispatch.h"
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "lib/Target/CPU/Kernels/Elementwise/Epilogue.h"
#include "lib/Target/CPU/Kernels/Contraction/RegisterTile.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;

namespace {
ChannelTiles tilesOf(kernel::ConvDepthwiseOp op) {
  auto result = cast<RankedTensorType>(op.getResult().getType());
  auto filter = cast<RankedTensorType>(op.getFilter().getType());
  auto geometry = ConvGeometry::get(cast<RankedTensorType>(op.getInput().getType()), result,
                                    filter.getShape().drop_back(), op.getStrides(), op.getDilations(), op.getPadding());
  // Loads bound these kernels: a tile is about a quarter of a million multiply-adds.
  return {geometry, result.getShape().back(), 250000};
}

/// One channel. Rows of the input with padding in width are copied, so that what vectors read is there; what they read
/// of the padding is left out of their sums.
class ColumnsKernel {
public:
  static bool areFor(const ChannelTiles &conv, Type elementType) {
    const ConvGeometry &g = conv.geometry;
    return conv.channels == 1 && g.inputChannels == 1 && g.stride[2] == 1 && g.low[2] >= 0 && g.out[2] > 1 &&
           scratchBytes(g, elementType) <= kMostBytes;
  }
  static int64_t scratchBytes(const ConvGeometry &g, Type elementType) {
    int64_t bytes = g.hasPadding(2) ? copiedRows(g) * rowLength(g) * bytesOf(elementType) : 0;
    return int64_t(llvm::alignTo(uint64_t(bytes), 64));
  }

  ColumnsKernel(KernelBuilder &kernel, const ConvGeometry &geometry, const Epilogue &epilogue, Value input,
                Value filter)
      : k(kernel), g(geometry), epilogue(epilogue), input(input), filter(filter),
        elementType(epilogue.rootType.getElementType()), type(computeType(elementType)) {
    if (!g.hasPadding(2)) return;
    rows = k.scratchBuffer(0, MemRefType::get({copiedRows(g) * rowLength(g)}, type));
    k.loop(k.index(0), k.index(copiedRows(g) * rowLength(g)), kLanes,
           [&](Value at) { k.store(k.zero(type, kLanes), rows, at, type); });
  }

  void emitRow(Value sample, Value depth, Value height) {
    if (rows) copyRows(sample, depth, height);
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

private:
  static constexpr int64_t kMostBytes = 256 << 10; // stays in the second-level cache
  static int64_t bytesOf(Type elementType) { return computeType(elementType).getIntOrFloatBitWidth() / 8; }
  static int64_t copiedRows(const ConvGeometry &g) { return g.window[0] * g.window[1]; }
  /// A multiple of kLanes: the padding, the input's row, and as far as the last vector reads.
  static int64_t rowLength(const ConvGeometry &g) {
    int64_t read = int64_t(llvm::alignTo(uint64_t(g.out[2]), kLanes)) + (g.window[2] - 1) * g.dilation[2];
    return int64_t(llvm::alignTo(uint64_t(std::max(read, g.low[2] + g.in[2])), kLanes));
  }

  Value copied(Value kd, Value kh) { return k.mul(k.linearize({kd, kh}, {g.window[0], g.window[1]}), rowLength(g)); }

  void copyRows(Value sample, Value depth, Value height) {
    emitWindowRows(k, g, sample, depth, height, {}, [&](Value kd, Value kh, Value position, ValueRange) {
      Value target = k.add(copied(kd, kh), g.low[2]);
      int64_t whole = g.in[2] / kLanes * kLanes, rest = g.in[2] - whole;
      auto copy = [&](Value at, Value mask, int64_t lanes) {
        Value part = k.loadVector(input, k.add(position, at), elementType, mask, lanes);
        k.store(part, rows, k.add(target, at), type, mask);
      };
      k.loop(k.index(0), k.index(whole), kLanes, [&](Value at) { copy(at, Value(), kLanes); });
      if (rest) copy(k.index(whole), k.mask(rest), kLanes);
      return SmallVector<Value>();
    });
  }

  SmallVector<Value> sums(Value sample, Value depth, Value height, Value width, const TileColumns &columns,
                          int64_t count) {
    SmallVector<Value> initial;
    for (int64_t lanes : columns.lanes) initial.push_back(k.zero(type, lanes));
    return emitWindowRows(
        k, g, sample, depth, height, initial, [&](Value kd, Value kh, Value position, ValueRange carried) {
          Value taps = k.linearize({kd, kh, k.index(0)}, {g.window[0], g.window[1], g.window[2]});
          Value from = rows ? copied(kd, kh) : position;
          auto range = [&](Value lower, Value upper, ValueRange sums, bool leavesOut) {
            return k.loop(lower, upper, 1, sums, [&](Value tap, ValueRange before) {
              return addTap(k.add(taps, tap), k.add(width, k.mul(tap, g.dilation[2])), from, columns, before,
                            leavesOut);
            });
          };
          if (!rows) return range(k.index(0), k.index(g.window[2]), carried, false);
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

  /// `column`: of the first lane among the copied ones.
  SmallVector<Value> addTap(Value tap, Value column, Value from, const TileColumns &columns, ValueRange sums,
                            bool leavesOut) {
    Value weight = k.load(filter, tap, elementType);
    SmallVector<Value> results;
    for (auto [j, sum] : llvm::enumerate(sums)) {
      int64_t lanes = columns.lanes[j];
      Value first = k.add(column, int64_t(j) * kLanes), at = k.add(from, first);
      Value x = rows ? k.loadVector(rows, at, type, Value(), lanes)
                     : k.loadVector(input, at, elementType, columns.masks[j], lanes);
      Value next = k.multiplyAdd(x, k.splat(weight, lanes), sum);
      if (leavesOut) {
        Value before = k.mask(k.sub(k.index(g.low[2]), first), lanes);
        Value until = k.mask(k.sub(k.index(g.low[2] + g.in[2]), first), lanes);
        Value isInside = arith::XOrIOp::create(k.b, k.loc, before, until);
        next = arith::SelectOp::create(k.b, k.loc, isInside, next, sum);
      }
      results.push_back(next);
    }
    return results;
  }

  KernelBuilder &k;
  const ConvGeometry &g;
  const Epilogue &epilogue;
  Value input, filter, rows; // rows: copied ones, where there is padding in width
  Type elementType, type;    // in memory and of sums
};

class ConvDepthwiseEmitter : public ContractionEmitter {
public:
  StringRef name() const override { return "conv_depthwise"; }
  bool matches(kernel::DispatchOp dispatch) const override { return analyze(dispatch).has_value(); }

  KernelPlan plan(kernel::DispatchOp dispatch) const override {
    Epilogue epilogue = *analyze(dispatch);
    ChannelTiles conv = tilesOf(cast<kernel::ConvDepthwiseOp>(epilogue.root));
    KernelPlan plan;
    plan.tiles = conv.count();
    Type elementType = epilogue.rootType.getElementType();
    if (ColumnsKernel::areFor(conv, elementType))
      plan.scratchBytes = plan.tiles ? ColumnsKernel::scratchBytes(conv.geometry, elementType) : 0;
    else
      plan.scratchBytes = plan.tiles ? epilogue.stageBytes() : 0;
    if (plan.tiles)
      plan.ranges = epilogue.tileRanges(conv.space(), conv.resultSteps(), [&](unsigned operand) {
        return operand == 0 ? conv.inputSteps() : SmallVector<TileStep>();
      });
    return plan;
  }

  LogicalResult emit(kernel::DispatchOp dispatch, KernelBuilder &k) const override {
    Epilogue epilogue = *analyze(dispatch);
    auto op = cast<kernel::ConvDepthwiseOp>(epilogue.root);
    ChannelTiles conv = tilesOf(op);
    const ConvGeometry &g = conv.geometry;
    if (conv.count() == 0) return success();
    Type elementType = epilogue.rootType.getElementType();
    Value input = k.flat(k.operandBuffer(cast<BlockArgument>(op.getInput())));
    Value filter = k.flat(k.operandBuffer(cast<BlockArgument>(op.getFilter())));
    if (ColumnsKernel::areFor(conv, elementType)) {
      epilogue.dropUnitColumns();
      ColumnsKernel columns(k, g, epilogue, input, filter);
      conv.forTiles(k, [&](Value sample, Value depth, Value begin, Value end) {
        k.loop(begin, end, 1, [&](Value height) { columns.emitRow(sample, depth, height); });
      });
      return success();
    }
    int64_t mostRows = maxTileRows(k.target, elementType, 1, g.rowStride(/*samples=*/false));

    auto registerTile = [&](const ConvTile &tile, Value channel, int64_t count) {
      int64_t lanes = vectorLanes(count).front();
      Value mask = laneMask(k, count, lanes);
      SmallVector<Value> accumulators = emitTaps(
          k, g, tile, /*mergeTaps=*/false, zeroTile(k, elementType, tile.rows, ArrayRef<int64_t>(lanes)),
          [&](ValueRange carried, Value position, int64_t rowStride, Value tap, Value) {
            Value weights = k.loadVector(filter, k.add(k.mul(tap, conv.channels), channel), elementType, mask, lanes);
            Value base = k.add(position, channel);
            SmallVector<Value> results;
            for (auto [i, accumulator] : llvm::enumerate(carried)) {
              Value x = k.loadVector(input, k.add(base, static_cast<int64_t>(i) * rowStride), elementType, mask, lanes);
              results.push_back(k.multiplyAdd(x, weights, accumulator));
            }
            return results;
          });
      epilogue.storeRows(k, accumulators, resultRows(k, g, tile).front(), channel, mask, /*stage=*/0);
    };

    int64_t fullChannels = conv.channels / kLanes * kLanes;
    conv.forTiles(k, [&](Value sample, Value depth, Value begin, Value end) {
      k.loop(begin, end, 1, [&](Value height) {
        auto rowOf = [&](Value channel, int64_t count) {
          forWidthTiles(k, g, sample, depth, height, mostRows,
                        [&](const ConvTile &tile) { registerTile(tile, channel, count); });
        };
        k.loop(k.index(0), k.index(fullChannels), kLanes, [&](Value channel) { rowOf(channel, kLanes); });
        if (fullChannels < conv.channels) rowOf(k.index(fullChannels), conv.channels - fullChannels);
      });
    });
    return success();
  }

private:
  static std::optional<Epilogue> analyze(kernel::DispatchOp dispatch) {
    return Epilogue::analyze(dispatch, [](Operation *op) { return isa<kernel::ConvDepthwiseOp>(op); });
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::createConvDepthwiseEmitter() { return std::make_unique<ConvDepthwiseEmitter>(); }
