// The split-products pass: parts of long sums side by side.
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNReduction.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/SumOrder.h"
#include "lib/Target/CUDA/Kernels/Reduction/RowGroup.h"
#include "lib/Target/CUDA/Layout/Passes.h"
#include "llvm/Support/MathExtras.h"

namespace sprig {
#define GEN_PASS_DEF_SPLITPRODUCTS
#include "lib/Target/CUDA/Layout/Passes.h.inc"
} // namespace sprig

using namespace mlir;
using namespace sprig;

namespace {
struct SplitProducts : sprig::impl::SplitProductsBase<SplitProducts> {
  void runOnOperation() override {
    if (getOperation().isExternal()) return;
    for (ir::MatmulOp op : llvm::make_early_inc_range(getOperation().getBody().front().getOps<ir::MatmulOp>()))
      if (pays(op)) split(op);
  }

private:
  static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

  static bool pays(ir::MatmulOp op) {
    RankedTensorType left = typeOf(op.getLhs()), right = typeOf(op.getRhs()), type = typeOf(op.getResult());
    if (!type.getElementType().isF32() || left.getRank() != 2 || right.getRank() != 2) return false;
    int64_t rows = type.getDimSize(0), columns = type.getDimSize(1), depth = right.getDimSize(0);
    // Of both sides the parts lie behind each other.
    if (op.getTransposeRhs() || (!op.getTransposeLhs() && rows != 1)) return false;
    // So few that a sum of them is one chain, in the order of parts.
    if (depth <= kLongestChain || depth % kChainPart || depth / kChainPart > kLongestLoneRow) return false;
    // Fewer tiles than a large GPU has multiprocessors.
    constexpr int64_t kFew = 8, kTile = 32, kEnough = 128;
    int64_t tile = std::min(rows, columns) <= kFew ? kFew : kTile;
    return llvm::divideCeil(rows, tile) * llvm::divideCeil(columns, tile) < kEnough && type.getNumElements();
  }

  static void split(ir::MatmulOp op) {
    OpBuilder b(op);
    auto inParts = [&](Value side, bool stepsInner) -> Value {
      RankedTensorType type = typeOf(side);
      int64_t count = type.getDimSize(stepsInner ? 1 : 0) / kChainPart;
      SmallVector<int64_t> shape = {count, kChainPart, type.getDimSize(1)};
      if (stepsInner) shape = {count, 1, kChainPart}; // of the only row
      return ir::ReshapeOp::create(b, op.getLoc(), type.clone(shape), side);
    };
    bool stepsInner = !op.getTransposeLhs();
    Value parts = ir::MatmulOp::create(b, op.getLoc(), inParts(op.getLhs(), stepsInner), inParts(op.getRhs(), false),
                                       op.getTransposeLhs(), /*transpose_rhs=*/false);
    Value sum = ir::ReduceOp::create(b, op.getLoc(), ir::ReduceKind::sum, parts, {0}, /*keepDims=*/false);
    op.getResult().replaceAllUsesWith(sum);
    op->erase();
  }
};
} // namespace
