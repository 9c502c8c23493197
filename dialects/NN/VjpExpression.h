// Expressions of gradients: what ExpressionBuilder.h has, and the ways back of broadcasts and pads.
// For the vector-Jacobian products of the dialect's operations (Vjp*.cpp).
#pragma once
#include "dialects/NN/NNShapeOps.h"
#include "dialects/NN/NNUnary.h"
#include "dialects/NN/ExpressionBuilder.h"

namespace sprig::ir {

class VjpExpression : public Expression {
public:
  VjpExpression(VjpBuilder &vjp) : Expression(vjp.b, vjp.loc), vjp(vjp) {}
  VjpBuilder &vjp;

  mlir::Value g() const { return vjp.cotangent(); }
  /// Zeros of a tensor type, as a splat.
  mlir::Value zeros(mlir::Type type) {
    auto tensor = llvm::cast<mlir::RankedTensorType>(type);
    return ConstantOp::create(b, loc, tensor, makeSplat(tensor, 0));
  }
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
  /// Gives the operand its gradient, if it needs one, brought back to its shape.
  void give(unsigned operand, mlir::Value of, llvm::function_ref<mlir::Value()> gradient) {
    if (vjp.needs(operand)) vjp.give(operand, unbroadcast(gradient(), of.getType()));
  }
};

} // namespace sprig::ir
