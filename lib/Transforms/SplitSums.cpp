// Long sums over samples and positions as those of each sample, added up; see Passes.td.
#define GEN_PASS_DEF_SPLITSUMS
#include "lib/Transforms/Passes.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/ReduceOrder.h"

using namespace mlir;

namespace sprig {

static void split(ir::ReduceOp op) {
  OpBuilder b(op);
  // Of a scalar the results lie one after the other, whatever its dimensions.
  bool isScalar = op.getAxes().size() == size_t(op.getOperand().getType().getRank());
  bool keepDims = op.getKeepDims() && !isScalar;
  Value samples =
      ir::ReduceOp::create(b, op.getLoc(), ir::ReduceKind::sum, op.getOperand(), op.getAxes().drop_front(), keepDims);
  Value sum = ir::ReduceOp::create(b, op.getLoc(), ir::ReduceKind::sum, samples, {0}, keepDims);
  if (op.getKeepDims() && isScalar) sum = ir::ReshapeOp::create(b, op.getLoc(), op.getType(), sum);
  op.getResult().replaceAllUsesWith(sum);
  op->erase();
}

namespace {
struct SplitSums : impl::SplitSumsBase<SplitSums> {
  void runOnOperation() override {
    getOperation().walk([](ir::ReduceOp op) {
      if (ir::isSumOfSamplesAt(op, op.getOperand().getType().getShape())) split(op);
    });
  }
};
} // namespace
} // namespace sprig
