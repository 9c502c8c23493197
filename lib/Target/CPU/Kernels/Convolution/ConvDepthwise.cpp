// kernel.conv_depthwise with an epilogue: vectors run over channels, a register tile holds neighbours in width.
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
struct Depthwise {
  ConvGeometry geometry;
  int64_t channels, blockHeight, heightBlocks;

  explicit Depthwise(kernel::ConvDepthwiseOp op) {
    auto result = cast<RankedTensorType>(op.getResult().getType());
    auto filter = cast<RankedTensorType>(op.getFilter().getType());
    geometry = ConvGeometry::get(cast<RankedTensorType>(op.getInput().getType()), result, filter.getShape().drop_back(),
                                 op.getStrides(), op.getDilations(), op.getPadding());
    channels = result.getShape().back();
    // Loads bound these kernels: a tile is about a quarter of a million multiply-adds.
    blockHeight = geometry.blockHeight(channels, 250000);
    heightBlocks = llvm::divideCeil(std::max<int64_t>(geometry.out[1], 1), blockHeight);
  }
  int64_t tiles() const {
    return channels == 0 || geometry.positions() == 0 ? 0 : geometry.batch * geometry.out[0] * heightBlocks;
  }
  SmallVector<int64_t> space() const { return {geometry.batch, geometry.out[0], heightBlocks}; }
};

class ConvDepthwiseEmitter : public ContractionEmitter {
public:
  StringRef name() const override { return "conv_depthwise"; }
  bool matches(kernel::DispatchOp dispatch) const override { return analyze(dispatch).has_value(); }

  KernelPlan plan(kernel::DispatchOp dispatch) const override {
    Epilogue epilogue = *analyze(dispatch);
    Depthwise conv(cast<kernel::ConvDepthwiseOp>(epilogue.root));
    const ConvGeometry &g = conv.geometry;
    KernelPlan plan;
    plan.tiles = conv.tiles();
    plan.scratchBytes = plan.tiles ? epilogue.stageBytes() : 0;
    if (plan.tiles)
      plan.ranges =
          epilogue.tileRanges(conv.space(), g.resultSteps(conv.blockHeight, conv.channels), [&](unsigned operand) {
            return operand == 0 ? g.inputSteps(conv.blockHeight) : SmallVector<TileStep>();
          });
    return plan;
  }

  LogicalResult emit(kernel::DispatchOp dispatch, KernelBuilder &k) const override {
    Epilogue epilogue = *analyze(dispatch);
    auto op = cast<kernel::ConvDepthwiseOp>(epilogue.root);
    Depthwise conv(op);
    const ConvGeometry &g = conv.geometry;
    if (conv.tiles() == 0) return success();
    Type elementType = epilogue.rootType.getElementType();
    Value input = k.flat(k.operandBuffer(cast<BlockArgument>(op.getInput())));
    Value filter = k.flat(k.operandBuffer(cast<BlockArgument>(op.getFilter())));
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
    k.forTiles([&](Value index) {
      SmallVector<Value> at = k.delinearize(index, conv.space());
      Value begin = k.mul(at[2], conv.blockHeight);
      Value end = k.min(k.add(begin, conv.blockHeight), k.index(g.out[1]));
      k.loop(begin, end, 1, [&](Value height) {
        auto rowOf = [&](Value channel, int64_t count) {
          forWidthTiles(k, g, at[0], at[1], height, mostRows,
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
