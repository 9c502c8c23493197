// Mathematics of one operand.
#include "lib/Frontend/Ops/Emitter.h"
#include "sprig/elementwise.h"
#include <cmath>
#include <numbers>

namespace sprig {

using frontend::Emitter;

// Integers and booleans become f32 first.
#define SPRIG_REAL_UNARY(function, operation)                                                                          \
  Tensor function(const Operand &x) {                                                                                  \
    Emitter r(#function, x.at);                                                                                        \
    return r.unary(SPRIG_OP(operation), r.floatOf(x));                                                                 \
  }
SPRIG_REAL_UNARY(exp, "exp")
SPRIG_REAL_UNARY(expm1, "expm1")
SPRIG_REAL_UNARY(log, "log")
SPRIG_REAL_UNARY(log1p, "log1p")
SPRIG_REAL_UNARY(sqrt, "sqrt")
SPRIG_REAL_UNARY(rsqrt, "rsqrt")
SPRIG_REAL_UNARY(reciprocal, "reciprocal")
SPRIG_REAL_UNARY(sin, "sin")
SPRIG_REAL_UNARY(cos, "cos")
SPRIG_REAL_UNARY(tan, "tan")
SPRIG_REAL_UNARY(asin, "asin")
SPRIG_REAL_UNARY(acos, "acos")
SPRIG_REAL_UNARY(atan, "atan")
SPRIG_REAL_UNARY(sinh, "sinh")
SPRIG_REAL_UNARY(cosh, "cosh")
SPRIG_REAL_UNARY(tanh, "tanh")
SPRIG_REAL_UNARY(asinh, "asinh")
SPRIG_REAL_UNARY(acosh, "acosh")
SPRIG_REAL_UNARY(atanh, "atanh")
SPRIG_REAL_UNARY(erf, "erf")
SPRIG_REAL_UNARY(sigmoid, "sigmoid")
#undef SPRIG_REAL_UNARY

// Integers are whole already.
#define SPRIG_ROUNDING(function, operation)                                                                            \
  Tensor function(const Operand &x) {                                                                                  \
    Emitter r(#function, x.at);                                                                                        \
    Tensor operand = r.tensorOf(x);                                                                                    \
    return isFloat(operand.type(r.at).dtype) ? r.unary(SPRIG_OP(operation), operand) : operand;                        \
  }
SPRIG_ROUNDING(floor, "floor")
SPRIG_ROUNDING(ceil, "ceil")
SPRIG_ROUNDING(round, "round")
#undef SPRIG_ROUNDING

namespace {
/// A number of any type but boolean.
Tensor numberOf(const Emitter &r, const Operand &x) {
  Tensor operand = r.tensorOf(x);
  if (operand.type(r.at).dtype == DType::boolean)
    r.fail("is not for booleans, " + describe(operand.type(r.at)) + "; convert with to()");
  return operand;
}

/// Towards zero.
Tensor truncated(const Emitter &r, const Tensor &x) {
  Tensor isBelow = r.compare("predicate lt", x, r.number(0, x));
  return r.select(isBelow, r.unary(SPRIG_OP("ceil"), x), r.unary(SPRIG_OP("floor"), x));
}

/// f(x) * factor, f one operation.
Tensor scaled(const char *op, const frontend::OpName &name, const Operand &x, double factor) {
  Emitter r(op, x.at);
  Tensor y = r.unary(name, r.floatOf(x));
  return r.mul(y, r.number(factor, y));
}
} // namespace

Tensor abs(const Operand &x) {
  Emitter r("abs", x.at);
  return r.abs(numberOf(r, x));
}
Tensor sign(const Operand &x) {
  Emitter r("sign", x.at);
  return r.unary(SPRIG_OP("sign"), numberOf(r, x));
}
Tensor square(const Operand &x) {
  Emitter r("square", x.at);
  Tensor operand = numberOf(r, x);
  return r.mul(operand, operand);
}
Tensor trunc(const Operand &x) {
  Emitter r("trunc", x.at);
  Tensor operand = r.tensorOf(x);
  return isFloat(operand.type(r.at).dtype) ? truncated(r, operand) : operand;
}
Tensor frac(const Operand &x) {
  Emitter r("frac", x.at);
  Tensor operand = r.requireFloat(x);
  return r.sub(operand, truncated(r, operand));
}

Tensor exp2(const Operand &x) {
  Emitter r("exp2", x.at);
  Tensor operand = r.floatOf(x);
  return r.binary(SPRIG_OP("pow"), r.number(2, operand), operand);
}
Tensor log2(const Operand &x) { return scaled("log2", SPRIG_OP("log"), x, 1 / std::numbers::ln2); }
Tensor log10(const Operand &x) { return scaled("log10", SPRIG_OP("log"), x, 1 / std::numbers::ln10); }
Tensor erfc(const Operand &x) {
  Emitter r("erfc", x.at);
  Tensor operand = r.floatOf(x);
  return r.sub(r.number(1, operand), r.unary(SPRIG_OP("erf"), operand));
}

namespace {
/// A test of floats; `otherwise` is what it says of integers.
Tensor floatTest(const Emitter &r, const frontend::OpName &name, const Operand &x, bool otherwise) {
  Tensor operand = r.tensorOf(x);
  const TensorType &type = operand.type(r.at);
  return isFloat(type.dtype) ? r.predicate(name, operand)
                             : frontend::splat(otherwise, {DType::boolean, type.shape}, r.at);
}
} // namespace

Tensor isNan(const Operand &x) { return floatTest(Emitter("isNan", x.at), SPRIG_OP("is_nan"), x, false); }
Tensor isInf(const Operand &x) { return floatTest(Emitter("isInf", x.at), SPRIG_OP("is_inf"), x, false); }
Tensor isFinite(const Operand &x) {
  Emitter r("isFinite", x.at);
  Tensor operand = r.tensorOf(x);
  if (!isFloat(operand.type(r.at).dtype)) return floatTest(r, SPRIG_OP("is_nan"), {operand, r.at}, true);
  // |x| < infinity holds of neither infinity nor NaN.
  return r.compare("predicate lt", r.abs(operand), r.number(HUGE_VAL, operand));
}

namespace {
/// Whether numbers are negative, -0 included.
Tensor hasSign(const Emitter &r, const Tensor &x) {
  Tensor isZero = r.compare("predicate eq", x, r.number(0, x));
  Tensor same = r.select(isZero, r.unary(SPRIG_OP("reciprocal"), x), x);
  return r.compare("predicate lt", same, r.number(0, x));
}
} // namespace

Tensor atan2(const Operand &y, const Operand &x) {
  Emitter r("atan2", y.at.line ? y.at : x.at);
  const Operand *both[] = {&y, &x};
  DType type = r.promote(both);
  if (!isFloat(type)) type = DType::f32;
  Tensor b = r.converted(y, type), a = r.converted(x, type);
  // atan of the smaller over the larger magnitude, so that nothing overflows; then mirrored into the octant. Selections
  // where nn.abs, nn.max and nn.min have the same values: on axes and diagonals these stop or share the gradient.
  Tensor isBelow = hasSign(r, b), isLeft = hasSign(r, a);
  Tensor down = r.select(isBelow, r.neg(b), b), across = r.select(isLeft, r.neg(a), a);
  Tensor isSteep = r.compare("predicate gt", down, across);
  Tensor larger = r.select(isSteep, down, across), smaller = r.select(isSteep, across, down);
  // The slope is 0 at the origin, and 1 between two infinities.
  Tensor isOrigin = r.compare("predicate eq", larger, r.number(0, larger));
  Tensor isCorner = r.compare("predicate eq", smaller, r.number(HUGE_VAL, smaller));
  Tensor top = r.select(isOrigin, r.number(0, smaller), r.select(isCorner, r.number(1, smaller), smaller));
  Tensor isKnown = r.binary(SPRIG_OP("or"), isOrigin, isCorner);
  Tensor slope = r.div(top, r.select(isKnown, r.number(1, larger), larger));
  Tensor angle = r.unary(SPRIG_OP("atan"), slope);
  angle = r.select(isSteep, r.sub(r.number(std::numbers::pi / 2, angle), angle), angle);
  angle = r.select(isLeft, r.sub(r.number(std::numbers::pi, angle), angle), angle);
  return r.select(isBelow, r.neg(angle), angle);
}

} // namespace sprig
