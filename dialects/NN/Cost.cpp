// What operations cost, where that is not one step per result element.
#include "dialects/NN/NNComposite.h"
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/NNReduction.h"

using namespace mlir;

namespace sprig::ir {

// A fused multiply-add counts as two.
int64_t MatmulOp::getFlops() {
  ArrayRef<int64_t> lhs = getLhs().getType().getShape();
  return 2 * getType().getNumElements() * (getTransposeLhs() ? lhs[lhs.size() - 2] : lhs.back());
}
int64_t LinearOp::getFlops() {
  return getType().getNumElements() * (2 * getOperand().getType().getShape().back() + (getBias() ? 1 : 0));
}
int64_t ConvOp::getFlops() {
  return 2 * getType().getNumElements() * llvm::product_of(getFilter().getType().getShape().drop_front());
}
int64_t ConvTransposeOp::getFlops() { // each input element meets each tap of its channel
  return 2 * getInput().getType().getNumElements() * llvm::product_of(getFilter().getType().getShape().drop_front());
}

int64_t ConvFilterGradOp::getFlops() { // each element of the cotangent meets each tap of its channel
  return 2 * getCotangent().getType().getNumElements() * llvm::product_of(getType().getShape().drop_front());
}

int64_t ReduceOp::getFlops() { return getOperand().getType().getNumElements(); }
int64_t ArgReduceOp::getFlops() { return getOperand().getType().getNumElements(); }
int64_t PoolOp::getFlops() { return getType().getNumElements() * llvm::product_of(getWindow()); }
int64_t PoolGradOp::getFlops() { return getCotangent().getType().getNumElements() * llvm::product_of(getWindow()); }
int64_t ArgMaxPoolOp::getFlops() { return getType().getNumElements() * llvm::product_of(getWindow()); }

} // namespace sprig::ir
