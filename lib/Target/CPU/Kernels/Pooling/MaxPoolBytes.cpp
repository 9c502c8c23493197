// nn.pool max of channels-last bytes that stands alone: vectors of whole registers run over channels, a register tile
// holds neighbours in width. The loop emitter has the pools of other types and those with operations beside them.
#include "dialects/NN/NNReduction.h"
#include "lib/Target/CPU/Kernels/Contraction/RegisterTile.h"
#include "lib/Target/CPU/Kernels/Convolution/ConvGeometry.h"
#include "lib/Target/CPU/Kernels/Elementwise/SingleOp.h"
#include "lib/Target/CPU/Kernels/Emitters.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
ChannelTiles poolTiles(ir::PoolOp op) {
  auto result = cast<RankedTensorType>(op.getResult().getType());
  auto geometry = ConvGeometry::get(cast<RankedTensorType>(op.getOperand().getType()), result, op.getWindow(),
                                    op.getStrides(), op.getDilations(), op.getPadding());
  return {geometry, result.getShape().back(), 500000};
}

struct MaxPoolBytesEmitter : SingleOpEmitter<ir::PoolOp> {
  StringRef name() const override { return "max_pool_bytes"; }
  bool takes(ir::PoolOp op) const override {
    return op.getKind() == ir::ReduceKind::max && op.getChannelsLast() && elementOf(op.getOperand()).isInteger(8) &&
           shapeOf(op.getOperand()).size() <= 5;
  }

  KernelPlan planOf(kernel::DispatchOp dispatch, ir::PoolOp op) const override {
    ChannelTiles pool = poolTiles(op);
    KernelPlan plan;
    plan.tiles = pool.count();
    if (!plan.tiles) return plan;
    TileRanges ranges(dispatch, pool.space());
    ranges.operands([&](OpOperand &) { return pool.inputSteps(); });
    ranges.result(0, pool.resultSteps());
    plan.ranges = ranges.take();
    return plan;
  }

  void emitOp(KernelBuilder &k, ir::PoolOp op) const override {
    ChannelTiles pool = poolTiles(op);
    Type element = elementOf(op.getOperand());
    const ConvGeometry &g = pool.geometry;
    if (pool.count() == 0) return;
    Value from = k.flatOperand(op.getOperand()), to = k.flat(k.resultBuffer(0));
    constexpr int64_t kMostRows = 8;
    pool.forTiles(k, [&](Value sample, Value depth, Value begin, Value end) {
      k.loop(begin, end, 1, [&](Value height) {
        forChannels(k, pool.channels, [&](Value channel, int64_t lanes, Value mask) {
          forWidthTiles(k, g, sample, depth, height, kMostRows, [&](const ConvTile &tile) {
            SmallVector<Value> largest = emitTile(k, g, element, tile, from, channel, lanes, mask);
            for (auto [row, value] : llvm::zip_equal(resultRows(k, g, tile), largest))
              k.store(value, to, k.add(k.mul(row, pool.channels), channel), element, mask);
          });
        });
      });
    });
  }

private:
  /// Whole registers, then 16 channels at once, the last of them masked.
  static void forChannels(KernelBuilder &k, int64_t channels, llvm::function_ref<void(Value, int64_t, Value)> body) {
    int64_t done = 0;
    for (int64_t lanes : {int64_t(k.target.vectorBytes), kLanes}) {
      int64_t end = done + (channels - done) / lanes * lanes;
      k.loop(k.index(done), k.index(end), lanes, [&](Value channel) { body(channel, lanes, Value()); });
      done = end;
    }
    if (done < channels) body(k.index(done), kLanes, laneMask(k, channels - done, kLanes));
  }

  static SmallVector<Value> emitTile(KernelBuilder &k, const ConvGeometry &g, Type element, const ConvTile &tile,
                                     Value from, Value channel, int64_t lanes, Value mask) {
    bool isUnsigned = element.isUnsignedInteger();
    Value lowest = k.constant(cast<IntegerType>(storageType(element)), isUnsigned ? 0 : -128, lanes);
    return emitTaps(k, g, tile, /*mergeTaps=*/false, SmallVector<Value>(tile.rows, lowest),
                    [&](ValueRange carried, Value position, int64_t rowStride, Value, Value) {
                      SmallVector<Value> results;
                      for (auto [i, value] : llvm::enumerate(carried)) {
                        Value offset = k.add(k.add(position, channel), static_cast<int64_t>(i) * rowStride);
                        Value x = k.loadVector(from, offset, element, mask, lanes);
                        results.push_back(isUnsigned ? Value(arith::MaxUIOp::create(k.b, k.loc, value, x))
                                                     : Value(arith::MaxSIOp::create(k.b, k.loc, value, x)));
                      }
                      return results;
                    });
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createMaxPoolBytesEmitter() {
  return std::make_unique<MaxPoolBytesEmitter>();
}
