// nn.matmul as products of matrices, and their tiles. For the emitters that compute it by tiles.
#pragma once
#include "lib/Target/Kernels/BatchedProduct.h"
#include "lib/Target/Kernels/ElementBuilder.h"

namespace sprig {

struct MatmulForm : BatchedProduct {
  using BatchedProduct::BatchedProduct;

  /// Tiles of these sizes: by leading dimensions, rows and columns, and all of them.
  llvm::SmallVector<int64_t> tiles(int64_t tileRows, int64_t tileColumns) const;
  int64_t tileCount(int64_t tileRows, int64_t tileColumns) const;
  /// Whether there is enough to do for a tile; few short chains are as quick by themselves.
  bool isWorthTiles() const;
};

/// Where the matrix of one product begins in an operand.
mlir::Value beginOfMatrix(ElementBuilder &k, llvm::ArrayRef<mlir::Value> matrix, llvm::ArrayRef<int64_t> strides);

} // namespace sprig
