// The sizes of an attention (dialects/NN/AttentionPattern.h), and where its operands and its result lie. For the
// emitters of all targets.
#pragma once
#include "dialects/Kernel/KernelDispatch.h"
#include "dialects/NN/AttentionPattern.h"
#include "lib/Target/Kernels/ElementBuilder.h"

namespace sprig {

/// An operand of a product as a matrix of each position of the batch.
struct MatrixView {
  ir::PointwiseView view;
  llvm::SmallVector<int64_t> batchStrides; // of the scores' batch dimensions; 0 where the operand repeats
  int64_t rowStride = 0, columnStride = 0;

  MatrixView(const ir::PointwiseView &source, mlir::Value operand, size_t batchRank, bool transposed);
  bool isPlain() const { return view.chain.empty(); }

  /// Where the matrix of a position of the batch begins, in elements of the root.
  mlir::Value begin(ElementBuilder &kernel, llvm::ArrayRef<mlir::Value> matrix) const;
  /// What lies between the root and the operand, on compute values: a scalar or a vector.
  mlir::Value applyChain(ElementBuilder &kernel, mlir::Value value) const;
};

struct AttentionForm {
  ir::Attention attention;
  llvm::SmallVector<int64_t> batch;
  int64_t rows, keys, depth, columns; // scores are rows x keys, the result rows x columns
  mlir::Type elementType;
  MatrixView query, key, value;
  llvm::SmallVector<int64_t> resultStrides;

  explicit AttentionForm(ir::Attention found);
  /// That of a dispatch which holds nothing else.
  static std::optional<AttentionForm> in(kernel::DispatchOp dispatch);

  int64_t matrices() const { return llvm::product_of(batch); }
};

} // namespace sprig
