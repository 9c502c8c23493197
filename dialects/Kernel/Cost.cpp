// What operations cost, where that is not one step per result element. A fused multiply-add counts as two.
#include "dialects/Kernel/KernelContraction.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace sprig::kernel {

int64_t MatmulPackedOp::getFlops() { return 2 * getType().getNumElements() * getLhs().getType().getShape().back(); }
int64_t MatmulNarrowOp::getFlops() { return 2 * getType().getNumElements() * getLhs().getType().getShape().back(); }
int64_t MatmulNarrowDotOp::getFlops() { return 2 * getType().getNumElements() * getLhs().getType().getShape().back(); }
int64_t ConvPackedOp::getFlops() {
  int64_t rows = getInput().getType().getShape().back() / int64_t(getGroups());
  for (int64_t size : getWindow()) rows *= size;
  return 2 * getType().getNumElements() * rows;
}
int64_t ConvDepthwiseOp::getFlops() {
  return 2 * getType().getNumElements() * llvm::product_of(getFilter().getType().getShape().drop_back(), int64_t(1));
}
int64_t ConvDepthwiseDotOp::getFlops() {
  return 2 * getType().getNumElements() * llvm::product_of(getWindow(), int64_t(1));
}
int64_t ConvFilterGradPartsOp::getFlops() {
  return 2 * getCotangent().getType().getNumElements() *
         llvm::product_of(getType().getShape().drop_front(2), int64_t(1));
}
int64_t MatmulPartsOp::getFlops() { return 2 * getLhs().getType().getNumElements() * getRhs().getType().getDimSize(1); }
int64_t SumPartsOp::getFlops() { return getParts().getType().getNumElements(); }
int64_t ConvWinogradOp::getFlops() { // of the products; the transforms are a few additions for each of their elements
  ArrayRef<int64_t> result = getType().getShape();
  int64_t tiles = result[0];
  for (int64_t d = 0; d < 2; ++d) tiles *= (result[1 + d] + getTile()[d] - 1) / getTile()[d];
  return 2 * tiles * getPanels().getType().getDimSize(1) * result[3];
}

} // namespace sprig::kernel
