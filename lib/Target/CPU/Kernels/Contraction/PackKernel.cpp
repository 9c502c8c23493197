// kernel.pack at run time: one tile per panel.
#include "lib/Target/CPU/Kernels/Emitters.h"
#include "dialects/Kernel/KernelContraction.h"
#include "lib/Target/CPU/Kernels/Contraction/PanelPacking.h"
#include "lib/Target/CPU/Kernels/Elementwise/SingleOp.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;
using namespace sprig::cpu;

namespace {
struct PackEmitter : SingleOpEmitter<kernel::PackOp> {
  // Bytes are only packed when compiling.
  bool takes(kernel::PackOp op) const override { return op.getInterleave() == 1; }
  KernelPlan planOf(kernel::DispatchOp dispatch, kernel::PackOp op) const override {
    KernelPlan plan;
    auto panels = cast<RankedTensorType>(op.getResult().getType());
    plan.tiles = panels.getNumElements() == 0 ? 0 : panels.getDimSize(0);
    if (plan.tiles == 0) return plan;
    int64_t depth = panels.getDimSize(1), panel = depth * kPanelWidth, groups = op.getGroups();
    TileRanges ranges(dispatch, {groups, plan.tiles / groups});
    auto matrix = cast<RankedTensorType>(op.getOperand().getType());
    // Rows of a matrix that is not transposed are cut into pieces.
    int64_t group = matrix.getNumElements() / groups;
    ranges.operands([&](OpOperand &) -> SmallVector<TileStep> {
      if (!op.getTransposed()) return {};
      return {{group, 0, group}, {panel, 0, panel}};
    });
    ranges.result(0, {{plan.tiles / groups * panel, 0, plan.tiles / groups * panel}, {panel, 0, panel}});
    plan.ranges = ranges.take();
    return plan;
  }
  void emitOp(KernelBuilder &k, kernel::PackOp op) const override {
    auto matrix = cast<RankedTensorType>(op.getOperand().getType());
    auto panels = cast<RankedTensorType>(op.getResult().getType());
    if (panels.getNumElements() == 0) return;
    bool transposed = op.getTransposed();
    int64_t depth = matrix.getDimSize(transposed ? 1 : 0), columns = matrix.getDimSize(transposed ? 0 : 1);
    int64_t groups = op.getGroups(), groupColumns = columns / groups;
    int64_t groupPanels = llvm::divideCeil(groupColumns, kPanelWidth);
    int64_t lastColumns = groupColumns - (groupPanels - 1) * kPanelWidth;
    Value source = k.flatOperand(op.getOperand()), target = k.flat(k.resultBuffer(0));
    int64_t depthStride = transposed ? 1 : columns, columnStride = transposed ? depth : 1;
    k.forTiles([&](Value tile) {
      SmallVector<Value> at = k.delinearize(tile, {groups, groupPanels});
      Value first = k.add(k.mul(at[0], groupColumns), k.mul(at[1], kPanelWidth));
      PanelSource from{source, k.mul(first, columnStride), depth, depthStride, columnStride};
      k.ifLast(at[1], groupPanels, lastColumns != kPanelWidth, [&](bool last) {
        emitPanel(k, from, last ? lastColumns : kPanelWidth, matrix.getElementType(), target,
                  k.mul(tile, depth * kPanelWidth), PanelEnd::zeros);
      });
    });
  }
};
} // namespace

std::unique_ptr<KernelEmitter> sprig::cpu::createPackEmitter() { return std::make_unique<PackEmitter>(); }
