// VjpExpression: an operation builds its vector-Jacobian product with it, and gives it the result. It has expressions
// (ExpressionBuilder.h), and the ways back of broadcasts and pads.
// For DifferentiableOpInterface::buildVjp (Vjp*.cpp); made by the differentiate pass.
#pragma once
#include "dialects/NN/LocationMarks.h"
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNUnary.h"
#include "dialects/NN/ExpressionBuilder.h"

namespace sprig::ir {

class VjpExpression : public Expression {
public:
  /// The vector-Jacobian product of what lies between `targets` and `outputs` in the block at hand, written at the
  /// insertion point: for operations that hold a function.
  using Pullback = llvm::function_ref<mlir::FailureOr<llvm::SmallVector<mlir::Value>>(
      mlir::OpBuilder &builder, mlir::ValueRange outputs, mlir::ValueRange cotangents, mlir::ValueRange targets)>;

  /// `cotangents` has one value for each result, of its type; `reached` tells whether it may be other than zero,
  /// `needed` for each operand whether anybody asks for its gradient.
  VjpExpression(mlir::OpBuilder &builder, mlir::Operation *op, llvm::ArrayRef<mlir::Value> cotangents,
                llvm::ArrayRef<bool> reached, llvm::ArrayRef<bool> needed, Pullback pullback)
      : Expression(builder, gradientLoc(op)), pullback(pullback), cotangents(cotangents), reached(reached),
        needed(needed), gradients(op->getNumOperands()) {}

  Pullback pullback;

  /// The cotangent of a result; zeros where nothing that is differentiated depends on it.
  mlir::Value cotangent(unsigned result = 0) const { return cotangents[result]; }
  mlir::Value g() const { return cotangent(); }
  bool isReached(unsigned result) const { return reached[result]; }
  bool needs(unsigned operand) const { return needed[operand]; }
  /// The cotangent of an operand, of its type. An operand that is given none has the gradient zero.
  void give(unsigned operand, mlir::Value gradient) { gradients[operand] = gradient; }
  /// Gives the operand its gradient, if it needs one, brought back to its shape.
  void give(unsigned operand, mlir::Value of, llvm::function_ref<mlir::Value()> gradient) {
    if (needs(operand)) give(operand, unbroadcast(gradient(), of.getType()));
  }
  /// Gives the operands that need a gradient theirs, in order.
  void giveNeeded(mlir::ValueRange gradients) {
    for (unsigned i = 0, next = 0; i < needed.size(); ++i)
      if (needs(i)) give(i, gradients[next++]);
  }
  /// Gives those of these operands that need one the gradient of the operation's decomposition. They are values of
  /// their own in it, so that no other way from them to the results is counted.
  mlir::LogicalResult giveByDecomposition(DecomposableOpInterface op, llvm::ArrayRef<unsigned> operands);
  llvm::ArrayRef<mlir::Value> given() const { return gradients; }

  /// Zeros of a tensor type, as a splat.
  mlir::Value zeros(mlir::Type type) { return createSplat(b, loc, type, 0); }
  mlir::Value scale(mlir::Value x, double factor) { return mul(x, splat(x, factor)); }
  mlir::Value negate(mlir::Value x) { return unary<NegOp>(x); }
  mlir::Value square(mlir::Value x) { return mul(x, x); }
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> permutation) {
    return TransposeOp::create(b, loc, x, permutation);
  }
  mlir::Value slice(mlir::Value x, llvm::ArrayRef<int64_t> starts, llvm::ArrayRef<int64_t> sizes) {
    return SliceOp::create(b, loc, x, starts, sizes, llvm::SmallVector<int64_t>(starts.size(), 1));
  }
  mlir::Value padZeros(mlir::Value x, llvm::ArrayRef<int64_t> low, llvm::ArrayRef<int64_t> high) {
    if (llvm::all_of(low, [](int64_t v) { return v == 0; }) && llvm::all_of(high, [](int64_t v) { return v == 0; }))
      return x;
    return PadOp::create(b, loc, PadMode::constant, x, splat(x, 0), low, high);
  }
  mlir::Value broadcast(mlir::Value x, llvm::ArrayRef<int64_t> shape) {
    auto type = typeOf(x);
    if (type.getShape() == shape) return x;
    return BroadcastOp::create(b, loc, type.clone(shape), x);
  }
  /// The gradient of a value that was broadcast to the shape of `gradient`: the sum over what was repeated.
  mlir::Value unbroadcast(mlir::Value gradient, mlir::Type wanted);

private:
  llvm::ArrayRef<mlir::Value> cotangents;
  llvm::ArrayRef<bool> reached, needed;
  llvm::SmallVector<mlir::Value> gradients;
};

} // namespace sprig::ir
