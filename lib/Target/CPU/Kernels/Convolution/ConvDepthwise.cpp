// kernel.conv_depthwise with an epilogue: vectors run over channels, a register tile holds neighbours in width. Of a
// single channel ConvColumns is the kernel.
#include "lib/Target/CPU/Kernels/Convolution/ConvColumns.h"
#include "dialects/Kernel/KernelContraction.h"
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "lib/Target/CPU/Kernels/Elementwise/Epilogue.h"
#include "lib/Target/CPU/Kernels/Contraction/RegisterTile.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
ChannelTiles tilesOf(kernel::ConvDepthwiseOp op) {
  auto result = cast<RankedTensorType>(op.getResult().getType());
  auto filter = cast<RankedTensorType>(op.getFilter().getType());
  auto geometry = ConvGeometry::get(cast<RankedTensorType>(op.getInput().getType()), result,
                                    filter.getShape().drop_back(), op.getStrides(), op.getDilations(), op.getPadding());
  // Loads bound these kernels: a tile is about a quarter of a million multiply-adds.
  return {geometry, result.getShape().back(), 250000};
}

struct ConvDepthwiseEmitter : ContractionEmitter<kernel::ConvDepthwiseOp> {
  KernelPlan planOf(kernel::ConvDepthwiseOp op, const Epilogue &epilogue) const override {
    ChannelTiles conv = tilesOf(op);
    if (ConvColumns columns(conv.geometry, epilogue.rootType); columns.areWorthIt()) return columns.plan(epilogue);
    KernelPlan plan;
    plan.tiles = conv.count();
    plan.scratchBytes = plan.tiles ? epilogue.stageBytes() : 0;
    if (plan.tiles)
      plan.ranges = epilogue.tileRanges(conv.space(), conv.resultSteps(), [&](unsigned operand) {
        return operand == 0 ? conv.inputSteps() : SmallVector<TileStep>();
      });
    return plan;
  }

  void emitOp(KernelBuilder &k, kernel::ConvDepthwiseOp op, Epilogue &epilogue) const override {
    ChannelTiles conv = tilesOf(op);
    const ConvGeometry &g = conv.geometry;
    if (conv.count() == 0) return;
    Type elementType = epilogue.rootType.getElementType();
    Value input = k.flatOperand(op.getInput());
    Value filter = k.flatOperand(op.getFilter());
    if (ConvColumns columns(g, epilogue.rootType); columns.areWorthIt()) {
      columns.emit(k, std::move(epilogue), input, {filter, 1});
      return;
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
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createConvDepthwiseEmitter() {
  return std::make_unique<ConvDepthwiseEmitter>();
}
