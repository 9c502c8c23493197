// Scalar bodies of elementwise operations on floats, comparisons and conversions. Integers: ScalarInteger.cpp.
#include "dialects/Interfaces/TensorTypes.h"
#include "dialects/NN/Constants.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNUnary.h"
#include "dialects/NN/ScalarBodies.h"
#include "mlir/IR/Matchers.h"
#include <cmath>
#include <limits>
#include <optional>

using namespace mlir;
using arith::CmpFPredicate;
using arith::CmpIPredicate;

namespace sprig::ir {

static bool isFloat(Value v) { return isa<FloatType>(ScalarBuilder::elementOf(v)); }

// The check itself is the kernel's (isCheckedAtRunTime).
Value InRangeOp::buildScalar(ScalarBuilder &, ValueRange args) { return args[0]; }

Value RsqrtOp::buildScalar(ScalarBuilder &s, ValueRange args) { return s.div(s.f(args[0], 1), s.sqrt(args[0])); }

Value ReciprocalOp::buildScalar(ScalarBuilder &s, ValueRange args) { return s.div(s.f(args[0], 1), args[0]); }

// exp(-|x|) never overflows: e / (1 + e) below zero, 1 / (1 + e) above.
Value SigmoidOp::buildScalar(ScalarBuilder &s, ValueRange args) {
  Value x = args[0], one = s.f(x, 1);
  Value e = math::ExpOp::create(s.b, s.loc, s.neg(s.abs(x)));
  return s.div(s.select(s.lt(x, 0), e, one), s.add(one, e));
}

// Ordered comparisons are false for NaN, which then stays itself. `0 > x ? 0 : x` is one instruction of x86.
Value ReluOp::buildScalar(ScalarBuilder &s, ValueRange args) {
  Value x = args[0];
  if (!isFloat(x)) {
    if (elementOf(getOperand()).isUnsignedInteger()) return x;
    return s.select(s.cmp(CmpIPredicate::slt, x, 0), s.i(x, 0), x);
  }
  Value zero = s.f(x, 0);
  return s.select(s.cmp(CmpFPredicate::OGT, zero, x), zero, x);
}

Value AbsOp::buildScalar(ScalarBuilder &s, ValueRange args) {
  Value x = args[0];
  if (isFloat(x)) return s.abs(x);
  if (elementOf(getOperand()).isUnsignedInteger()) return x;
  return s.select(s.cmp(CmpIPredicate::slt, x, 0), s.subi(s.i(x, 0), x), x);
}

Value NegOp::buildScalar(ScalarBuilder &s, ValueRange args) {
  return isFloat(args[0]) ? s.neg(args[0]) : s.subi(s.i(args[0], 0), args[0]);
}

Value SignOp::buildScalar(ScalarBuilder &s, ValueRange args) {
  Value x = args[0];
  if (isFloat(x)) // zeros and NaN stay themselves
    return s.select(s.gt(x, 0), s.f(x, 1), s.select(s.lt(x, 0), s.f(x, -1), x));
  Value positive = s.select(s.cmp(CmpIPredicate::ne, x, 0), s.i(x, 1), s.i(x, 0));
  if (elementOf(getOperand()).isUnsignedInteger()) return positive;
  return s.select(s.cmp(CmpIPredicate::slt, x, 0), s.i(x, -1), positive);
}

Value IsNanOp::buildScalar(ScalarBuilder &s, ValueRange args) { return s.isNan(args[0]); }

Value IsInfOp::buildScalar(ScalarBuilder &s, ValueRange args) {
  double inf = std::numeric_limits<double>::infinity();
  Value up = s.cmp(CmpFPredicate::OEQ, args[0], inf), down = s.cmp(CmpFPredicate::OEQ, args[0], -inf);
  if (getDetectNegative() && getDetectPositive()) return s.ori(up, down);
  if (getDetectPositive()) return up;
  return getDetectNegative() ? down : s.i(up, 0);
}

// Functions of two numbers.
#define SPRIG_NN_ARITH(OpT, floatForm, integerForm)                                                                    \
  Value OpT::buildScalar(ScalarBuilder &s, ValueRange args) {                                                          \
    return isFloat(args[0]) ? s.floatForm(args[0], args[1]) : s.integerForm(args[0], args[1]);                         \
  }
SPRIG_NN_ARITH(AddOp, add, addi)
SPRIG_NN_ARITH(SubOp, sub, subi)
SPRIG_NN_ARITH(MulOp, mul, muli)
#undef SPRIG_NN_ARITH

Value RemOp::buildScalar(ScalarBuilder &s, ValueRange args) {
  if (isFloat(args[0])) return arith::RemFOp::create(s.b, s.loc, args[0], args[1]);
  return buildIntegerRemainder(s, args[0], args[1], elementOf(getLhs()).isUnsignedInteger());
}

// The truncated remainder, moved by one divisor where the signs differ.
Value ModOp::buildScalar(ScalarBuilder &s, ValueRange args) {
  Value x = args[0], y = args[1];
  bool isUnsigned = elementOf(getLhs()).isUnsignedInteger();
  if (!isFloat(x)) {
    Value rem = buildIntegerRemainder(s, x, y, isUnsigned);
    if (isUnsigned) return rem;
    Value differ = s.cmp(CmpIPredicate::slt, s.xori(rem, y), 0);
    Value move = s.andi(differ, s.cmp(CmpIPredicate::ne, rem, 0));
    return s.select(move, s.addi(rem, y), rem);
  }
  Value rem = arith::RemFOp::create(s.b, s.loc, x, y);
  Value differ = s.xori(s.lt(rem, 0), s.lt(y, 0));
  Value zero = s.cmp(CmpFPredicate::OEQ, rem, 0);
  return s.select(zero, s.copySign(rem, y), s.select(differ, s.add(rem, y), rem));
}

// `x > y ? x : y` is one instruction and gives y where either is NaN; a NaN in x is put back.
static Value buildExtremum(ScalarBuilder &s, Value x, Value y, bool isUnsigned, bool larger) {
  if (isFloat(x)) {
    Value chosen = s.select(s.cmp(larger ? CmpFPredicate::OGT : CmpFPredicate::OLT, x, y), x, y);
    return s.select(s.isNan(x), x, chosen);
  }
  auto predicate = isUnsigned ? (larger ? CmpIPredicate::ugt : CmpIPredicate::ult)
                              : (larger ? CmpIPredicate::sgt : CmpIPredicate::slt);
  return s.select(s.cmp(predicate, x, y), x, y);
}

Value MaxOp::buildScalar(ScalarBuilder &s, ValueRange args) {
  return buildExtremum(s, args[0], args[1], elementOf(getLhs()).isUnsignedInteger(), true);
}

Value MinOp::buildScalar(ScalarBuilder &s, ValueRange args) {
  return buildExtremum(s, args[0], args[1], elementOf(getLhs()).isUnsignedInteger(), false);
}

/// The value of an operand that is one number.
static std::optional<double> constantNumber(Value operand) {
  SplatElementsAttr splat;
  if (!matchPattern(operand, m_Constant(&splat))) return std::nullopt;
  return ConstantView(cast<ElementsAttr>(Attribute(splat))).asDouble(0);
}

Value DivOp::buildScalar(ScalarBuilder &s, ValueRange args) {
  if (isFloat(args[0])) {
    // By a power of two: a product with its reciprocal is the same number.
    int exponent = 0;
    std::optional<double> divisor = constantNumber(getRhs());
    if (divisor && std::abs(std::frexp(*divisor, &exponent)) == 0.5 && std::abs(exponent) < 100)
      return s.mul(args[0], 1 / *divisor);
    return s.div(args[0], args[1]);
  }
  return buildIntegerDivision(s, args[0], args[1], elementOf(getLhs()).isUnsignedInteger());
}

/// Powers that cost one instruction and are rounded correctly.
constexpr double kEasyExponents[] = {1, 2, -1, 0.5};
static Value buildEasyPower(ScalarBuilder &s, Value x, double exponent) {
  if (exponent == 1) return x;
  if (exponent == 2) return s.mul(x, x);
  if (exponent == -1) return s.div(s.f(x, 1), x);
  if (exponent != 0.5) return {};
  double inf = std::numeric_limits<double>::infinity(); // sqrt differs at -0 and -inf
  return s.select(s.cmp(CmpFPredicate::OEQ, x, -inf), s.f(x, inf), s.sqrt(s.add(x, 0)));
}

Value PowOp::buildScalar(ScalarBuilder &s, ValueRange args) {
  Value x = args[0], y = args[1];
  Type base = elementOf(getLhs()), exponent = elementOf(getRhs());
  if (!isFloat(x) && !isFloat(y))
    return buildIntegerPower(s, x, y, base.isUnsignedInteger(), exponent.isUnsignedInteger());
  if (auto constant = constantNumber(getRhs()); constant && isFloat(x))
    if (Value power = buildEasyPower(s, x, *constant)) return power;
  // In the wider of the float types at hand, then to the type of the base.
  Type wide = isFloat(x) ? ScalarBuilder::elementOf(x) : ScalarBuilder::elementOf(y);
  if (isFloat(y) && ScalarBuilder::widthOf(y) > wide.getIntOrFloatBitWidth()) wide = ScalarBuilder::elementOf(y);
  Value wideExponent = buildCast(s, y, exponent, wide);
  Value power = math::PowFOp::create(s.b, s.loc, buildCast(s, x, base, wide), wideExponent);
  power = buildCast(s, power, wide, base);
  // The general function nearly always rounds correctly, too; but the bits must not depend on what is a constant.
  if (isFloat(x))
    for (double easy : kEasyExponents)
      power = s.select(s.cmp(CmpFPredicate::OEQ, wideExponent, easy), buildEasyPower(s, x, easy), power);
  return power;
}

// Comparison and selection.
static CmpFPredicate floatPredicate(ComparePredicate predicate) {
  switch (predicate) {
  case ComparePredicate::eq: return CmpFPredicate::OEQ;
  case ComparePredicate::ne: return CmpFPredicate::UNE;
  case ComparePredicate::lt: return CmpFPredicate::OLT;
  case ComparePredicate::le: return CmpFPredicate::OLE;
  case ComparePredicate::gt: return CmpFPredicate::OGT;
  case ComparePredicate::ge: return CmpFPredicate::OGE;
  }
  llvm_unreachable("all predicates are listed");
}

static CmpIPredicate integerPredicate(ComparePredicate predicate, bool isUnsigned) {
  switch (predicate) {
  case ComparePredicate::eq: return CmpIPredicate::eq;
  case ComparePredicate::ne: return CmpIPredicate::ne;
  case ComparePredicate::lt: return isUnsigned ? CmpIPredicate::ult : CmpIPredicate::slt;
  case ComparePredicate::le: return isUnsigned ? CmpIPredicate::ule : CmpIPredicate::sle;
  case ComparePredicate::gt: return isUnsigned ? CmpIPredicate::ugt : CmpIPredicate::sgt;
  case ComparePredicate::ge: return isUnsigned ? CmpIPredicate::uge : CmpIPredicate::sge;
  }
  llvm_unreachable("all predicates are listed");
}

Value CompareOp::buildScalar(ScalarBuilder &s, ValueRange args) {
  if (isFloat(args[0])) return s.cmp(floatPredicate(getPredicate()), args[0], args[1]);
  Type element = elementOf(getLhs());
  bool isUnsigned = element.isUnsignedInteger() || element.isInteger(1);
  return s.cmp(integerPredicate(getPredicate(), isUnsigned), args[0], args[1]);
}

Value SelectOp::buildScalar(ScalarBuilder &s, ValueRange args) {
  return arith::SelectOp::create(s.b, s.loc, args[0], args[1], args[2]);
}

Value CastOp::buildScalar(ScalarBuilder &s, ValueRange args) {
  return buildCast(s, args[0], elementOf(getOperand()), elementOf(getResult()));
}

Value BitcastOp::buildScalar(ScalarBuilder &s, ValueRange args) {
  return buildBitcast(s, args[0], elementOf(getOperand()), elementOf(getResult()));
}

} // namespace sprig::ir
