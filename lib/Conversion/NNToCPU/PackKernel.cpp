// nn.pack at run time: one tile per panel.
#include "lib/Conversion/NNToCPU/Emitters.h"
#include "lib/Conversion/NNToCPU/PanelPacking.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;

namespace {
class PackEmitter : public KernelEmitter {
public:
  StringRef name() const override { return "pack"; }
  bool matches(nn::DispatchOp dispatch) const override {
    Block &body = dispatch->getRegion(0).front();
    if (!llvm::hasSingleElement(body.without_terminator())) return false;
    auto op = dyn_cast<nn::PackOp>(body.front());
    return op && isa<BlockArgument>(op.getOperand()) && body.getTerminator()->getNumOperands() == 1;
  }
  KernelPlan plan(nn::DispatchOp dispatch) const override {
    nn::PackOp op = packOf(dispatch);
    KernelPlan plan;
    auto panels = cast<RankedTensorType>(op.getResult().getType());
    plan.tiles = panels.getNumElements() == 0 ? 0 : panels.getDimSize(0);
    plan.grain = chooseGrain(plan.tiles, 0, op.getBytes());
    return plan;
  }
  LogicalResult emit(nn::DispatchOp dispatch, KernelBuilder &k) const override {
    nn::PackOp op = packOf(dispatch);
    auto matrix = cast<RankedTensorType>(op.getOperand().getType());
    auto panels = cast<RankedTensorType>(op.getResult().getType());
    if (panels.getNumElements() == 0) return success();
    bool transposed = op.getTransposed();
    int64_t depth = matrix.getDimSize(transposed ? 1 : 0), columns = matrix.getDimSize(transposed ? 0 : 1);
    int64_t groups = op.getGroups(), groupColumns = columns / groups;
    int64_t groupPanels = llvm::divideCeil(groupColumns, nn::kPanelWidth);
    int64_t lastColumns = groupColumns - (groupPanels - 1) * nn::kPanelWidth;
    Value source = k.flat(k.operandBuffer(cast<BlockArgument>(op.getOperand()))), target = k.flat(k.resultBuffer(0));
    int64_t depthStride = transposed ? 1 : columns, columnStride = transposed ? depth : 1;
    k.forTiles([&](Value tile) {
      SmallVector<Value> at = k.delinearize(tile, {groups, groupPanels});
      Value first = k.add(k.mul(at[0], groupColumns), k.mul(at[1], nn::kPanelWidth));
      PanelSource from{source, k.mul(first, columnStride), depth, depthStride, columnStride};
      k.ifLast(at[1], groupPanels, lastColumns != nn::kPanelWidth, [&](bool last) {
        emitPanel(k, from, last ? lastColumns : nn::kPanelWidth, matrix.getElementType(), target,
                  k.mul(tile, depth * nn::kPanelWidth), PanelEnd::zeros);
      });
    });
    return success();
  }

private:
  static nn::PackOp packOf(nn::DispatchOp dispatch) { return cast<nn::PackOp>(dispatch->getRegion(0).front().front()); }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::createPackEmitter() { return std::make_unique<PackEmitter>(); }
