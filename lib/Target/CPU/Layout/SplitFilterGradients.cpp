// Gradients of filters of few tiles as the sums of their parts, one for each piece of the positions; see Passes.td.
#include "dialects/Kernel/KernelContraction.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNReduction.h"
#include "lib/Target/CPU/Kernels/Convolution/FilterGradient.h"
#include "lib/Target/CPU/Layout/Passes.h"

using namespace mlir;

namespace sprig::cpu {
#define GEN_PASS_DEF_SPLITFILTERGRADIENTS
#include "lib/Target/CPU/Layout/Passes.h.inc"

namespace {
class SplitFilterGradients : public impl::SplitFilterGradientsBase<SplitFilterGradients> {
public:
  using SplitFilterGradientsBase::SplitFilterGradientsBase;

  void runOnOperation() override {
    SmallVector<ir::ConvFilterGradOp> gradients;
    getOperation().walk([&](ir::ConvFilterGradOp op) { gradients.push_back(op); });
    for (ir::ConvFilterGradOp op : gradients)
      if (pays(op)) split(op);
  }

private:
  bool pays(ir::ConvFilterGradOp op) const {
    if (!op.getChannelsLast()) return false;
    FilterGradient gradient(op);
    // A part of a half type would be rounded.
    if (!gradient.isCut() || computeType(gradient.elementType) != gradient.elementType) return false;
    int64_t pieces = llvm::divideCeil(gradient.positions(), kChainPart);
    int64_t bytes = pieces * op.getType().getNumElements() * storageBytes(gradient.elementType);
    return gradient.tiles() <= mostTiles && bytes <= mostBytes && op.getFlops() >= leastFlops;
  }

  static void split(ir::ConvFilterGradOp op) {
    OpBuilder b(op);
    Value parts = kernel::ConvFilterGradPartsOp::create(b, op.getLoc(), op.getInput(), op.getCotangent(),
                                                        op.getWindowAttr(), op.getStridesAttr(), op.getDilationsAttr(),
                                                        op.getPaddingAttr(), op.getGroupsAttr(),
                                                        /*channels_first=*/UnitAttr());
    Value sum = ir::ReduceOp::create(b, op.getLoc(), ir::ReduceKind::sum, parts, {0}, /*keepDims=*/false);
    op.getResult().replaceAllUsesWith(sum);
    op->erase();
  }
};
} // namespace
} // namespace sprig::cpu
