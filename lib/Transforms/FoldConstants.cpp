// The pass fold-constants: one walk in program order, so that a chain of constants folds in one run.
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "lib/Transforms/Passes.h"
#include "lib/Interpreter/Fold.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNControl.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNQuantized.h"
#include "dialects/NN/NNRecurrent.h"
#include "dialects/NN/NNShapeOps.h"

using namespace mlir;
using namespace sprig;

namespace {
struct FoldConstants : sprig::impl::FoldConstantsBase<FoldConstants> {
  using Base::Base;

  void runOnOperation() override {
    unpackedWeights.clear(); // one instance of a pass runs on all functions of a module
    interp::FoldLimits limits;
    limits.resultBytes = maxBytes;
    limits.exact = exact;
    limits.empty = empty;
    // Branches and loops too: constants are known inside of them.
    getOperation().walk([&](Block *block) {
      Operation *parent = block->getParentOp();
      if (!isa<func::FuncOp, ir::CondOp, ir::WhileOp>(parent)) return;
      for (Operation &op : llvm::make_early_inc_range(*block))
        if (!isKept(op)) fold(op, limits);
      for (Operation &op : llvm::make_early_inc_range(*block))
        if (isa<ir::ConstantOp>(op) && op.use_empty()) op.erase();
    });
  }

private:
  // Counting is cheaper than reading a table of indices.
  static bool isCheaperComputed(Operation &op) {
    constexpr int64_t kSmallTable = 64;
    auto iota = dyn_cast<ir::IotaOp>(op);
    auto type = iota ? cast<RankedTensorType>(iota.getType()) : RankedTensorType();
    return iota && isa<IntegerType>(type.getElementType()) && type.getNumElements() > kSmallTable;
  }

  // Numbers of a few bits that are taken out of bytes, each byte for several: weights stay as small as they are.
  static bool isUnpacking(Operation &op) {
    auto shift = dyn_cast<ir::ShrOp>(op);
    return shift &&
           shift.getType().getNumElements() > cast<RankedTensorType>(shift.getOperand(0).getType()).getNumElements();
  }

  // Whether a value has readers, and all of them are these, directly or behind moves.
  static bool isReadBy(Value value, llvm::function_ref<bool(OpOperand &)> isReader) {
    return !value.use_empty() && llvm::all_of(value.getUses(), [&](OpOperand &use) {
      if (isa<ir::ReshapeOp, ir::TransposeOp, ir::SliceOp>(use.getOwner()))
        return isReadBy(use.getOwner()->getResult(0), isReader);
      return isReader(use);
    });
  }
  static bool dequantizesBytes(Operation *op) {
    auto dequantize = dyn_cast<ir::DequantizeOp>(op);
    return dequantize && dequantize.getOperand().getType().getElementType().isInteger(8);
  }
  // Of the right side of products of f32.
  static bool isNarrowWeight(Operation *op) {
    return dequantizesBytes(op) && isReadBy(op->getResult(0), [](OpOperand &use) {
             auto product = dyn_cast<ir::MatmulOp>(use.getOwner());
             return product && use.getOperandNumber() == 1 && !product.getTransposeLhs() && !product.getAccumulator() &&
                    product.getType().getElementType().isF32();
           });
  }
  // Whether numbers become those of weights alone, which join `found`.
  static bool leadsToWeights(Value value, llvm::SmallPtrSetImpl<Operation *> &found) {
    return !value.use_empty() && llvm::all_of(value.getUsers(), [&](Operation *user) {
      if (isNarrowWeight(user)) return found.insert(user), true;
      return isa<ir::AndOp, ir::ReshapeOp, ir::SliceOp>(user) && leadsToWeights(user->getResult(0), found);
    });
  }

  // Recurrent weights of bytes, which loops over time read at each step: packages have a byte for each of their
  // elements (docs/package-format.md), and kernels that multiply each step by them want floats in panels, whatever
  // their size.
  static bool isRecurrentWeight(Operation *op) {
    return dequantizesBytes(op) &&
           isReadBy(op->getResult(0), [](OpOperand &use) { return isa<ir::ScanOp>(use.getOwner()); });
  }

  bool isKept(Operation &op) const {
    return (keepQuantized && isa<ir::DequantizeOp>(op)) || unpackedWeights.contains(&op);
  }

  void fold(Operation &op, interp::FoldLimits limits) {
    if (isCheaperComputed(op)) return;
    if (isUnpacking(op)) {
      llvm::SmallPtrSet<Operation *, 4> weights;
      if (!keepNarrow || !leadsToWeights(op.getResult(0), weights)) return;
      unpackedWeights.insert(weights.begin(), weights.end());
      limits.resultBytes = std::numeric_limits<int64_t>::max();
    }
    if (isRecurrentWeight(&op)) limits.resultBytes = std::numeric_limits<int64_t>::max();
    auto values = interp::foldOperation(&op, limits);
    if (!values) return;
    OpBuilder builder(&op);
    for (auto [result, value] : llvm::zip_equal(op.getResults(), *values))
      if (!result.use_empty())
        result.replaceAllUsesWith(ir::ConstantOp::create(builder, op.getLoc(), value).getResult());
    op.erase();
  }

  llvm::SmallPtrSet<Operation *, 8> unpackedWeights; // what dequantises numbers that came several from a byte
};
} // namespace
