// Vector-Jacobian products of elementwise operations. x is the operand, y the result, g the cotangent.
#include "dialects/NN/VjpExpression.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNGradient.h"
#include "dialects/NN/NNRecurrent.h"
#include "dialects/NN/NNUnary.h"
#include "mlir/IR/Matchers.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace sprig::ir {

Value VjpExpression::unbroadcast(Value gradient, Type wanted) {
  auto from = typeOf(gradient), to = cast<RankedTensorType>(wanted);
  if (from.getShape() == to.getShape()) return gradient;
  int64_t missing = from.getRank() - to.getRank();
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, missing));
  for (int64_t d = 0; d < to.getRank(); ++d)
    if (to.getDimSize(d) == 1 && from.getDimSize(d + missing) != 1) axes.push_back(d + missing);
  if (!axes.empty()) gradient = reduce(ReduceKind::sum, gradient, axes, false);
  return reshape(gradient, to.getShape());
}

using Derivative = llvm::function_ref<Value(VjpExpression &e, Value x, Value y)>;

/// Of one operand: g times the derivative, which the function gives times g.
static LogicalResult unaryVjp(VjpExpression &e, Operation *op, Derivative derivative) {
  if (e.needs(0)) e.give(0, derivative(e, op->getOperand(0), op->getResult(0)));
  return success();
}
/// A result that is kept anyway, read after the cotangent: what is cheaply made of it is made there, and not kept
/// beside it. The steps of a scan are one kernel, which keeps nothing.
static Value inBackwardPass(VjpExpression &e, Value y) {
  Operation *parent = e.b.getInsertionBlock()->getParentOp();
  if (!parent || isa<ScanOp>(parent)) return y;
  return AfterOp::create(e.b, e.loc, y, e.g());
}

/// An expression of the cotangent and of x^2, which overflows from 256 on in f16: of half types it is computed in f32.
static Value onWideSquare(VjpExpression &e, Value x, llvm::function_ref<Value(Value, Value)> expression) {
  Value wide = e.widened(x);
  return e.cast(expression(e.widened(e.g()), e.square(wide)), VjpExpression::typeOf(x).getElementType());
}

#define SPRIG_NN_UNARY_VJP(OpT, expression)                                                                            \
  LogicalResult OpT::buildVjp(VjpExpression &e) {                                                                      \
    return unaryVjp(e, *this, [](VjpExpression &e, Value x, Value y) -> Value { return expression; });                 \
  }

SPRIG_NN_UNARY_VJP(InRangeOp, e.g())
SPRIG_NN_UNARY_VJP(AbsOp, e.mul(e.g(), e.unary<SignOp>(x)))
SPRIG_NN_UNARY_VJP(NegOp, e.negate(e.g()))
SPRIG_NN_UNARY_VJP(ExpOp, e.mul(e.g(), y))
SPRIG_NN_UNARY_VJP(LogOp, e.div(e.g(), x))
SPRIG_NN_UNARY_VJP(Log1pOp, e.div(e.g(), e.add(x, e.splat(x, 1))))
SPRIG_NN_UNARY_VJP(Expm1Op, e.mul(e.g(), e.add(y, e.splat(y, 1))))
SPRIG_NN_UNARY_VJP(SqrtOp, e.div(e.scale(e.g(), 0.5), y))
SPRIG_NN_UNARY_VJP(RsqrtOp, e.mul(e.scale(e.g(), -0.5), e.mul(y, e.square(y))))
SPRIG_NN_UNARY_VJP(ReciprocalOp, e.negate(e.mul(e.g(), e.square(y))))
SPRIG_NN_UNARY_VJP(SinOp, e.mul(e.g(), e.unary<CosOp>(x)))
SPRIG_NN_UNARY_VJP(CosOp, e.negate(e.mul(e.g(), e.unary<SinOp>(x))))
SPRIG_NN_UNARY_VJP(TanOp, e.mul(e.g(), e.add(e.square(y), e.splat(y, 1))))
SPRIG_NN_UNARY_VJP(SinhOp, e.mul(e.g(), e.unary<CoshOp>(x)))
SPRIG_NN_UNARY_VJP(CoshOp, e.mul(e.g(), e.unary<SinhOp>(x)))
SPRIG_NN_UNARY_VJP(TanhOp, e.mul(e.g(), e.sub(e.splat(y, 1), e.square(inBackwardPass(e, y)))))
SPRIG_NN_UNARY_VJP(AsinOp, e.mul(e.g(), e.unary<RsqrtOp>(e.sub(e.splat(x, 1), e.square(x)))))
SPRIG_NN_UNARY_VJP(AcosOp, e.negate(e.mul(e.g(), e.unary<RsqrtOp>(e.sub(e.splat(x, 1), e.square(x))))))
SPRIG_NN_UNARY_VJP(AtanOp, onWideSquare(e, x, [&](Value g, Value s) { return e.div(g, e.add(s, e.splat(s, 1))); }))
SPRIG_NN_UNARY_VJP(AsinhOp, onWideSquare(e, x, [&](Value g, Value s) {
                     return e.mul(g, e.unary<RsqrtOp>(e.add(s, e.splat(s, 1))));
                   }))
SPRIG_NN_UNARY_VJP(AcoshOp, onWideSquare(e, x, [&](Value g, Value s) {
                     return e.mul(g, e.unary<RsqrtOp>(e.sub(s, e.splat(s, 1))));
                   }))
SPRIG_NN_UNARY_VJP(AtanhOp, e.div(e.g(), e.sub(e.splat(x, 1), e.square(x))))
SPRIG_NN_UNARY_VJP(ErfOp, e.mul(e.scale(e.g(), M_2_SQRTPI), e.unary<ExpOp>(e.negate(e.square(x)))))
LogicalResult SigmoidOp::buildVjp(VjpExpression &e) {
  return unaryVjp(e, *this, [](VjpExpression &e, Value, Value result) -> Value {
    Value y = inBackwardPass(e, result);
    return e.mul(e.g(), e.mul(y, e.sub(e.splat(y, 1), y)));
  });
}
// The result, not the operand: the layer after it reads it anyway. The derivative at zero is zero.
SPRIG_NN_UNARY_VJP(ReluOp, e.select(e.compare(ComparePredicate::gt, y, e.splat(y, 0)), e.g(), e.splat(y, 0)))
#undef SPRIG_NN_UNARY_VJP

LogicalResult CastOp::buildVjp(VjpExpression &e) {
  if (e.needs(0) && isa<FloatType>(getType().getElementType()))
    e.give(0, e.cast(e.g(), getOperand().getType().getElementType()));
  return success();
}

LogicalResult AddOp::buildVjp(VjpExpression &e) {
  e.give(0, getLhs(), [&] { return e.g(); });
  e.give(1, getRhs(), [&] { return e.g(); });
  return success();
}

LogicalResult SubOp::buildVjp(VjpExpression &e) {
  e.give(0, getLhs(), [&] { return e.g(); });
  e.give(1, getRhs(), [&] { return e.negate(e.g()); });
  return success();
}

LogicalResult MulOp::buildVjp(VjpExpression &e) {
  e.give(0, getLhs(), [&] { return e.mul(e.g(), getRhs()); });
  e.give(1, getRhs(), [&] { return e.mul(e.g(), getLhs()); });
  return success();
}

LogicalResult DivOp::buildVjp(VjpExpression &e) {
  e.give(0, getLhs(), [&] { return e.div(e.g(), getRhs()); });
  e.give(1, getRhs(), [&] { return e.negate(e.div(e.mul(e.g(), getResult()), getRhs())); });
  return success();
}

/// x - quotient * y with a quotient that is a step function.
template <typename OpT>
static LogicalResult remainderVjp(OpT op, VjpExpression &e, llvm::function_ref<Value(VjpExpression &, Value)> whole) {
  e.give(0, op.getLhs(), [&] { return e.g(); });
  e.give(1, op.getRhs(), [&] { return e.negate(e.mul(e.g(), whole(e, e.div(op.getLhs(), op.getRhs())))); });
  return success();
}

LogicalResult RemOp::buildVjp(VjpExpression &e) {
  return remainderVjp(*this, e, [](VjpExpression &e, Value q) { // truncated
    return e.mul(e.unary<SignOp>(q), e.unary<FloorOp>(e.unary<AbsOp>(q)));
  });
}

LogicalResult ModOp::buildVjp(VjpExpression &e) {
  return remainderVjp(*this, e, [](VjpExpression &e, Value q) { return e.unary<FloorOp>(q); });
}

// The derivative by the base is zero where the exponent is: 0 * 0^-1 would be NaN, and so would be its derivative. That
// by the exponent is zero where the base is negative: it has no real one there; at 0 it is that of a power that grows,
// or of 1 / 0.
LogicalResult PowOp::buildVjp(VjpExpression &e) {
  Value x = getLhs(), y = getRhs();
  Type element = getType().getElementType();
  e.give(0, x, [&] {
    Value exponent = e.cast(y, element);
    auto derivativeAt = [&](Value base) {
      Value below = PowOp::create(e.b, e.loc, base, e.sub(exponent, e.splat(exponent, 1)));
      return e.mul(exponent, below);
    };
    if (DenseElementsAttr known; matchPattern(y, m_Constant(&known)) && known.isSplat() &&
                                 !matchPattern(y, m_AnyZeroFloat()) && !matchPattern(y, m_Zero()))
      return e.mul(e.g(), derivativeAt(x));
    Value isConstant = e.compare(ComparePredicate::eq, exponent, e.splat(exponent, 0));
    Value derivative = derivativeAt(e.select(isConstant, e.unary<StopGradientOp>(x), x));
    return e.mul(e.g(), e.select(isConstant, e.splat(derivative, 0), derivative));
  });
  e.give(1, y, [&] {
    Value isPositive = e.compare(ComparePredicate::gt, x, e.splat(x, 0));
    Value base = e.select(isPositive, x, e.unary<StopGradientOp>(x));
    Value isPole = e.binary<AndOp>(e.compare(ComparePredicate::eq, x, e.splat(x, 0)),
                                   e.compare(ComparePredicate::lt, y, e.splat(y, 0)));
    Value atZero = e.select(isPole, e.splat(x, -std::numeric_limits<double>::infinity()), e.splat(x, 0));
    Value logarithm = e.select(isPositive, e.unary<LogOp>(base), atZero);
    return e.cast(e.mul(e.g(), e.mul(getResult(), logarithm)), VjpExpression::typeOf(y).getElementType());
  });
  return success();
}

/// Of the larger or the smaller: the operand that `wins` takes the cotangent, equal ones half of it each. A bound takes
/// it where the other operand does not win.
template <typename OpT> static LogicalResult extremumVjp(OpT op, VjpExpression &e, ComparePredicate wins) {
  if (op.getBound()) {
    auto share = [&](bool isBound) {
      Value zero = e.splat(e.g(), 0), isInside = e.compare(wins, op.getLhs(), op.getRhs());
      return isBound ? e.select(isInside, zero, e.g()) : e.select(isInside, e.g(), zero);
    };
    e.give(0, op.getLhs(), [&] { return share(false); });
    e.give(1, op.getRhs(), [&] { return share(true); });
    return success();
  }
  auto share = [&](Value mine, Value other) {
    Value equal = e.compare(ComparePredicate::eq, mine, other);
    Value rest = e.select(equal, e.scale(e.g(), 0.5), e.splat(e.g(), 0));
    return e.select(e.compare(wins, mine, other), e.g(), rest);
  };
  e.give(0, op.getLhs(), [&] { return share(op.getLhs(), op.getRhs()); });
  e.give(1, op.getRhs(), [&] { return share(op.getRhs(), op.getLhs()); });
  return success();
}

LogicalResult MaxOp::buildVjp(VjpExpression &e) { return extremumVjp(*this, e, ComparePredicate::gt); }
LogicalResult MinOp::buildVjp(VjpExpression &e) { return extremumVjp(*this, e, ComparePredicate::lt); }

LogicalResult SelectOp::buildVjp(VjpExpression &e) {
  Value zero = e.splat(e.g(), 0);
  e.give(1, getOnTrue(), [&] { return e.select(getCondition(), e.g(), zero); });
  e.give(2, getOnFalse(), [&] { return e.select(getCondition(), zero, e.g()); });
  return success();
}

} // namespace sprig::ir
