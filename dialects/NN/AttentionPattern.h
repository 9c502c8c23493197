// Recognises attention in a graph of primitives: a product, elementwise operations and reductions along its rows
// (scale, mask, softmax), and a second product that takes them on the left. For the fuse pass, which makes one dispatch
// of it, and for the emitter, which finds the same parts there again.
#pragma once
#include "dialects/NN/NNContraction.h"
#include "dialects/NN/StridedView.h"
#include <string>

namespace sprig::ir {

struct Attention {
  MatmulOp scores, output;
  llvm::SmallVector<mlir::Operation *> rows;  // what lies between both, indices and splats included, in program order
  PointwiseView query, key, value;            // both operands of `scores`, the right one of `output`
  llvm::SmallVector<mlir::Operation *> views; // behind `output`, up to a transpose; the result is written through them

  mlir::Value weights() const { return MatmulOp(output).getLhs(); }
  mlir::Value result() const {
    return views.empty() ? mlir::Value(MatmulOp(output).getResult()) : views.back()->getResult(0);
  }
};

/// The attention that ends in this product. Where there is none though the product's left side comes from a reduction
/// along its rows, `why` says what stands in the way; otherwise it stays empty.
std::optional<Attention> matchAttention(MatmulOp output, std::string &why);

} // namespace sprig::ir
