// The widen-products pass: products with an accumulator of their own that a target has no kernel for, on operands of
// its type.
#define GEN_PASS_DEF_WIDENPRODUCTS
#include "lib/Transforms/Passes.h"
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/ExpressionBuilder.h"
#include "dialects/NN/NNRecurrent.h"
#include "lib/Target/Registry.h"

using namespace mlir;
using namespace sprig;

/// ui8 times a constant of i8, or bf16 times a constant, in the function itself: a region's products belong to the
/// kernel of its loop. Such a kernel of a loop over time takes bytes that the loop is given.
static bool isDotProduct(Operation *op) {
  Value left = op->getOperand(0), right = op->getOperand(1);
  bool areBytes = elementOf(left).isUnsignedInteger(8) && elementOf(right).isSignlessInteger(8), isTaken = areBytes;
  if (auto scan = dyn_cast<ir::ScanOp>(op->getParentOp())) {
    auto argument = dyn_cast<BlockArgument>(right);
    if (!argument) return false;
    right = scan->getOperand(argument.getArgNumber());
  } else {
    if (!isa<func::FuncOp>(op->getParentOp())) return false;
    isTaken |= elementOf(left).isBF16();
  }
  auto constant = right.getDefiningOp<ir::ConstantOp>();
  std::string reason;
  return isTaken && constant && ir::isReadableConstant(constant.getValue(), reason);
}

template <typename OpT> static void widen(OpT op) {
  OpBuilder b(op);
  ir::Expression e(b, op.getLoc());
  for (OpOperand &operand : op->getOpOperands()) operand.set(e.cast(operand.get(), *op.getAccumulator()));
  op.removeAccumulatorAttr();
}

namespace {
struct WidenProductsPass : sprig::impl::WidenProductsBase<WidenProductsPass> {
  using WidenProductsBase::WidenProductsBase;

  void runOnOperation() override {
    auto device = targetByKind(target);
    if (!device) {
      getOperation().emitError(llvm::toString(device.takeError()));
      return signalPassFailure();
    }
    bool takesDots = (*device)->takesDotProducts();
    getOperation().walk([&](Operation *op) {
      if (takesDots && op->getNumOperands() == 2 && isDotProduct(op)) {
        auto matmul = dyn_cast<ir::MatmulOp>(op);
        if (!matmul || (!matmul.getTransposeLhs() && isMatrix(matmul.getRhs()))) return;
      }
      if (auto matmul = dyn_cast<ir::MatmulOp>(op); matmul && matmul.getAccumulator()) widen(matmul);
      if (auto conv = dyn_cast<ir::ConvOp>(op); conv && conv.getAccumulator()) widen(conv);
    });
  }

private:
  static bool isMatrix(Value value) { return cast<RankedTensorType>(value.getType()).getRank() == 2; }
};
} // namespace
