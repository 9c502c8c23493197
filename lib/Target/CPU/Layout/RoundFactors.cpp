// The precision policy bf16; see Passes.td.
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/NNContraction.h"
#include "lib/Target/CPU/Layout/ConstantMoves.h"
#include "lib/Target/CPU/Layout/Passes.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;

namespace sprig::cpu {
#define GEN_PASS_DEF_ROUNDFACTORS
#include "lib/Target/CPU/Layout/Passes.h.inc"

namespace {

const char *roundingObstacle(Operation *op) {
  if (!isa<func::FuncOp>(op->getParentOp())) return "it is part of a loop or branch";
  if (!readableConstant(op->getOperand(1))) return "its right side is no constant";
  if (auto matmul = dyn_cast<ir::MatmulOp>(op)) {
    if (meetsOneMatrix(matmul)) return nullptr;
    return matmul.getTransposeLhs() ? "its left side is transposed" : "its right side is several matrices";
  }
  auto conv = cast<ir::ConvOp>(op);
  if (!conv.getChannelsLast()) return "its channels are not last";
  if (tensorOf(conv.getFilter()).getDimSize(1) % 2) return "it has an odd number of channels";
  return nullptr;
}

class RoundFactors : public impl::RoundFactorsBase<RoundFactors> {
public:
  using RoundFactorsBase::RoundFactorsBase;

  void runOnOperation() override {
    made.clear(); // one instance of a pass runs on all functions of a module
    SmallVector<Operation *> products;
    getOperation().walk([&](Operation *op) {
      if (isa<ir::MatmulOp, ir::ConvOp>(op) && tensorOf(op->getResult(0)).getElementType().isF32() &&
          tensorOf(op->getOperand(0)).getElementType().isF32())
        products.push_back(op);
    });
    for (Operation *op : products) {
      if (const char *why = roundingObstacle(op)) {
        remark::missed(op->getLoc(), remark::RemarkOpts::name("round-factors").category("fuse"))
            << ("factors of " + op->getName().getStringRef() + " stay f32: " + why).str();
        continue;
      }
      Operation *constant = op->getOperand(1).getDefiningOp();
      for (OpOperand &operand : op->getOpOperands()) operand.set(rounded(operand.get()));
      auto accumulator = TypeAttr::get(Float32Type::get(&getContext()));
      if (auto matmul = dyn_cast<ir::MatmulOp>(op))
        matmul.setAccumulatorAttr(accumulator);
      else
        cast<ir::ConvOp>(op).setAccumulatorAttr(accumulator);
      if (constant->use_empty()) constant->erase();
    }
  }

private:
  /// The value as bf16, made once for all its users, right after it.
  Value rounded(Value value) {
    Value &result = made[value];
    if (result) return result;
    OpBuilder b(&getContext());
    b.setInsertionPointAfterValue(value);
    return result = converted(b, value.getLoc(), value, b.getBF16Type());
  }

  llvm::DenseMap<Value, Value> made;
};

} // namespace
} // namespace sprig::cpu
