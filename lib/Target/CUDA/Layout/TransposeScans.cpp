// The transpose-scans pass: matrices of scans as neighbouring threads read them.
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNRecurrent.h"
#include "dialects/NN/NNShapeOps.h"
#include "lib/Target/CUDA/Layout/Passes.h"
#include "llvm/ADT/DenseMap.h"

namespace sprig::cuda {
#define GEN_PASS_DEF_TRANSPOSESCANS
#include "lib/Target/CUDA/Layout/Passes.h.inc"
} // namespace sprig::cuda

using namespace mlir;
using namespace sprig;
using namespace sprig::cuda;

namespace {
struct TransposeScans : cuda::impl::TransposeScansBase<TransposeScans> {
  void runOnOperation() override {
    made.clear();
    SmallVector<ir::ScanOp> scans;
    getOperation().walk([&](ir::ScanOp scan) { scans.push_back(scan); });
    for (ir::ScanOp scan : scans) transpose(scan);
  }

private:
  void transpose(ir::ScanOp scan) {
    unsigned first = scan.getNumInputs() + scan.getNumCarried(), count = scan.getInvariants().size();
    for (unsigned i = 0; i < count; ++i) {
      BlockArgument argument = scan.getStep().getArgument(first + i);
      SmallVector<ir::MatmulOp> products;
      for (OpOperand &use : argument.getUses()) {
        auto product = dyn_cast<ir::MatmulOp>(use.getOwner());
        if (product && product.getTransposeRhs() && product.getRhs() == argument &&
            cast<RankedTensorType>(argument.getType()).getRank() == 2)
          products.push_back(product);
      }
      if (products.empty()) continue;
      Value transposed = transposedOf(scan.getInvariants()[i]);
      scan.getInvariantsMutable().append(transposed);
      BlockArgument own = scan.getStep().addArgument(transposed.getType(), scan.getLoc());
      for (ir::MatmulOp product : products) {
        product.getRhsMutable().assign(own);
        product.setTransposeRhs(false);
      }
    }
    for (unsigned i = count; i-- > 0;) {
      if (!scan.getStep().getArgument(first + i).use_empty()) continue;
      scan.getStep().eraseArgument(first + i);
      scan.getInvariantsMutable().erase(i);
    }
  }

  Value transposedOf(Value matrix) {
    Value &transposed = made[matrix];
    if (!transposed) {
      OpBuilder b(&getContext());
      b.setInsertionPointAfterValue(matrix);
      transposed = ir::TransposeOp::create(b, matrix.getLoc(), matrix, b.getDenseI64ArrayAttr({1, 0}));
    }
    return transposed;
  }

  llvm::DenseMap<Value, Value> made;
};
} // namespace
