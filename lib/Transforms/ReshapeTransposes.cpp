// The reshape-transposes pass: transposes that move no element.
#define GEN_PASS_DEF_RESHAPETRANSPOSES
#include "lib/Transforms/Passes.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/StridedView.h"

using namespace mlir;
using namespace sprig;

namespace {
struct ReshapeTransposesPass : sprig::impl::ReshapeTransposesBase<ReshapeTransposesPass> {
  void runOnOperation() override {
    getOperation().walk([](ir::TransposeOp op) {
      ArrayRef<int64_t> shape = op.getOperand().getType().getShape();
      if (!ir::keepsOrder(shape, op.getPermutation())) return;
      OpBuilder b(op);
      op.getResult().replaceAllUsesWith(
          ir::ReshapeOp::create(b, op.getLoc(), op.getResult().getType(), op.getOperand()));
      op->erase();
    });
  }
};
} // namespace
