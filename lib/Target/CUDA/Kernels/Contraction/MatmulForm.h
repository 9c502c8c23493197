// nn.matmul, and the parts of a long one, as products of matrices, and their tiles. For the emitters that compute them
// by tiles.
#pragma once
#include "lib/Target/CUDA/Kernels/Contraction/Epilogue.h"
#include "lib/Target/Kernels/BatchedProduct.h"
#include "lib/Target/Kernels/ElementBuilder.h"

namespace sprig::cuda {

/// The nn.matmul of a dispatch that is one (contractionOf), or its kernel.matmul_parts; null for any other.
mlir::Operation *matmulOf(kernel::DispatchOp dispatch);

struct MatmulForm : BatchedProduct {
  /// Of what matmulOf finds.
  explicit MatmulForm(mlir::Operation *op);

  /// Whether a matrix is one of the chains that a sum is cut into, of all `depth` steps of which it takes some.
  bool inParts = false;

  /// Tiles of these sizes: by leading dimensions, rows and columns, and all of them.
  llvm::SmallVector<int64_t> tiles(int64_t tileRows, int64_t tileColumns) const;
  int64_t tileCount(int64_t tileRows, int64_t tileColumns) const;
  int64_t products() const { return matrices() * rows * columns * depth; }
  /// Whether there is enough to do for a tile; few short chains are as quick by themselves.
  bool isWorthTiles() const;
  /// Whether tensor cores compute it where factors may be rounded.
  bool isWorthTensorCores() const;
};

/// A side of one of the products, in memory.
struct MatrixSide {
  mlir::Value buffer, begin; // flat; the matrix's first element
  int64_t places, inner;     // rows of the left side, columns of the right one; elements of what lies side by side
  bool stepsInner;           // which steps do, else places

  /// Whether groups of four neighbours can be read at once.
  bool isWide() const { return inner % 4 == 0; }
  mlir::Value at(ElementBuilder &k, mlir::Value place, mlir::Value step) const;
};

/// A tile of the products, by its number among those of a size.
struct MatmulTile {
  MatmulTile(ElementBuilder &kernel, mlir::Operation *op, const MatmulForm &form, mlir::Value number, int64_t rows,
             int64_t columns);
  MatrixSide left, right;
  mlir::Value row, column; // its first, in the matrix
  mlir::Value part;        // number of the chain; null unless the form is in parts

  /// Stores an epilogue's lanes from an element of the matrix on.
  void store(Epilogue &epilogue, mlir::ValueRange sums, mlir::Value row, mlir::Value column) const;

private:
  ElementBuilder &k;
  llvm::ArrayRef<int64_t> shape; // of the result
  mlir::Value firstRow;          // of the matrix, in the whole result
};

} // namespace sprig::cuda
