// What an operation gets to build its vector-Jacobian product with, and where it puts the result.
// For DifferentiableOpInterface::buildVjp; made by the differentiate pass.
#pragma once
#include "mlir/IR/Builders.h"

namespace sprig {

class VjpBuilder {
public:
  /// The vector-Jacobian product of what lies between `targets` and `outputs` in the block at hand, written at the
  /// insertion point: for operations that hold a function.
  using Pullback = llvm::function_ref<mlir::FailureOr<llvm::SmallVector<mlir::Value>>(
      mlir::OpBuilder &builder, mlir::ValueRange outputs, mlir::ValueRange cotangents, mlir::ValueRange targets)>;

  /// `cotangents` has one value for each result, of its type; `reached` tells whether it may be other than zero,
  /// `needed` for each operand whether anybody asks for its gradient.
  VjpBuilder(mlir::OpBuilder &builder, mlir::Operation *op, llvm::ArrayRef<mlir::Value> cotangents,
             llvm::ArrayRef<bool> reached, llvm::ArrayRef<bool> needed, Pullback pullback)
      : b(builder), loc(op->getLoc()), pullback(pullback), cotangents(cotangents), reached(reached), needed(needed),
        gradients(op->getNumOperands()) {}

  mlir::OpBuilder &b;
  mlir::Location loc;
  Pullback pullback;

  /// The cotangent of a result; zeros where nothing that is differentiated depends on it.
  mlir::Value cotangent(unsigned result = 0) const { return cotangents[result]; }
  bool isReached(unsigned result) const { return reached[result]; }
  bool needs(unsigned operand) const { return needed[operand]; }
  /// The cotangent of an operand, of its type. An operand that is given none has the gradient zero.
  void give(unsigned operand, mlir::Value gradient) { gradients[operand] = gradient; }

  llvm::ArrayRef<mlir::Value> given() const { return gradients; }

private:
  llvm::ArrayRef<mlir::Value> cotangents;
  llvm::ArrayRef<bool> reached, needed;
  llvm::SmallVector<mlir::Value> gradients;
};

} // namespace sprig
