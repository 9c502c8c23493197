#include "lib/Target/CUDA/Kernels/Contraction/MatmulForm.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace sprig;

SmallVector<int64_t> MatmulForm::tiles(int64_t tileRows, int64_t tileColumns) const {
  SmallVector<int64_t> sizes(batch);
  sizes.push_back(llvm::divideCeil(rows, tileRows));
  sizes.push_back(llvm::divideCeil(columns, tileColumns));
  return sizes;
}

int64_t MatmulForm::tileCount(int64_t tileRows, int64_t tileColumns) const {
  return llvm::product_of(tiles(tileRows, tileColumns));
}

bool MatmulForm::isWorthTiles() const {
  constexpr int64_t kShallow = 8, kSmall = 1 << 14, kLong = 64, kFew = 1 << 10;
  int64_t products = matrices() * rows * columns * depth;
  return (depth >= kShallow && products >= kSmall) || (depth >= kLong && products >= kFew);
}

Value sprig::beginOfMatrix(ElementBuilder &k, ArrayRef<Value> matrix, ArrayRef<int64_t> strides) {
  Value begin = k.index(0);
  for (auto [index, stride] : llvm::zip_equal(matrix, strides)) begin = k.add(begin, k.mul(index, stride));
  return begin;
}
