// A batched product as one of matrices: its sizes, and how matrices lie behind each other. For the kernels of nn.matmul
// of every target.
#pragma once
#include "dialects/NN/NNContraction.h"

namespace sprig {

struct BatchedProduct {
  explicit BatchedProduct(ir::MatmulOp op);

  /// Leading dimensions. None where all matrices on the left meet the same one on the right, and their rows lie behind
  /// each other: that is a single product.
  llvm::SmallVector<int64_t> batch;
  llvm::SmallVector<int64_t> leftStrides, rightStrides; // in elements, per leading dimension; 0 where a side repeats
  int64_t rows, columns, depth;
  bool transposedLeft, transposedRight;

  int64_t matrices() const { return llvm::product_of(batch); }

protected:
  BatchedProduct() = default;
};

} // namespace sprig
