// Decompositions whose derivatives are other than the chain rule's at some points. For the files of decompositions.
// They hold marks (nn.stop_gradient, nn.custom_gradient) only where the differentiate pass asks for them: it drops the
// marks when it has read them, and what is left are the expressions that the decomposition is elsewhere.
#pragma once
#include "dialects/NN/ExpressionBuilder.h"

namespace sprig::ir {

/// On a composite that is about to be decomposed to be differentiated.
inline constexpr llvm::StringLiteral kMarkedAttr = "nn.marked";

class MarkedExpression : public Expression {
public:
  MarkedExpression(mlir::OpBuilder &b, mlir::Operation *composite)
      : Expression(b, composite->getLoc()), isMarked(composite->hasAttr(kMarkedAttr)) {}

  /// The value x, through which no gradient flows where the condition holds: an expression of x is not taken there, and
  /// its derivative may be infinite.
  mlir::Value cut(mlir::Value condition, mlir::Value x);
  /// -|x|, for functions that are smooth at 0. There it has the derivative 1, or -1: the one of its sides that is
  /// taken together with the side of the other parts of the expression.
  mlir::Value negatedMagnitude(mlir::Value x, double slopeAtZero);

  /// e^x - 1, of a curve that goes on as a line above 0: at 0 its second derivative is that of the line, 0.
  mlir::Value exponentialBelow(mlir::Value x);

private:
  bool isMarked;
};

} // namespace sprig::ir
