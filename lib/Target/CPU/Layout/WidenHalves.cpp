// Convolutions of half types on floats; see Passes.td.
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNUnary.h"
#include "lib/Target/CPU/Layout/ConstantMoves.h"
#include "lib/Target/CPU/Layout/Passes.h"

using namespace mlir;

namespace sprig::cpu {
#define GEN_PASS_DEF_WIDENHALVES
#include "lib/Target/CPU/Layout/Passes.h.inc"

namespace {

bool isOfHalves(ir::ConvOp op) {
  Type element = tensorOf(op.getResult()).getElementType();
  return (element.isF16() || element.isBF16()) && !op.getAccumulator() && isa<func::FuncOp>(op->getParentOp()) &&
         readableConstant(op.getFilter());
}

struct WidenHalves : impl::WidenHalvesBase<WidenHalves> {
  using WidenHalvesBase::WidenHalvesBase;

  void runOnOperation() override {
    SmallVector<ir::ConvOp> convolutions;
    getOperation().walk([&](ir::ConvOp op) {
      if (isOfHalves(op)) convolutions.push_back(op);
    });
    for (ir::ConvOp op : convolutions) {
      OpBuilder b(op);
      Type half = tensorOf(op.getResult()).getElementType();
      auto widened = [&](Value value) { return converted(b, value.getLoc(), value, b.getF32Type()); };
      Value input = widened(op.getInput()), filter = widened(op.getFilter());
      Value wide = ir::ConvOp::create(b, op.getLoc(), input, filter, op.getStridesAttr(), op.getDilationsAttr(),
                                      op.getPaddingAttr(), op.getGroupsAttr(), op.getChannelsLastAttr(), TypeAttr());
      Operation *constant = op.getFilter().getDefiningOp();
      op.getResult().replaceAllUsesWith(ir::CastOp::create(b, op.getLoc(), tensorOf(wide).clone(half), wide));
      op.erase();
      if (constant->use_empty()) constant->erase();
    }
  }
};

} // namespace
} // namespace sprig::cpu
