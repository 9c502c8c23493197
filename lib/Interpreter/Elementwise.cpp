// Elementwise primitives: scalar formulas over broadcast operands. Splats give splats.
#include "lib/Interpreter/Elementwise.h"
#include "dialects/NN/NNElementwise.h"
#include "dialects/NN/NNUnary.h"
#include "lib/Interpreter/Numbers.h"
#include "runtime/base/Decimal.h"
#include <cmath>

namespace sprig::interp {
namespace {

// Registers a unary operation on any number, with an integer formula.
template <typename OpT, typename F, typename I> void addNumber(EvaluatorTable &table, F, I) {
  table.add<OpT>(+[](OpT, Evaluation &e) {
    if (e.operands[0].isFloat()) return e.give(mapFloats(e, F{}));
    mlir::Type type = e.operands[0].elementType();
    return e.give(map<int64_t, int64_t>(e, [&](int64_t x) { return wrapTo(I{}(x, type), type); }));
  });
}
template <typename OpT, typename F, typename I> void addBinary(EvaluatorTable &table, F, I) {
  table.add<OpT>(+[](OpT, Evaluation &e) {
    if (e.operands[0].isFloat()) return e.give(map2<double, double>(e, F{}));
    mlir::Type type = e.operands[0].elementType();
    return e.give(map2<int64_t, int64_t>(e, [&](int64_t a, int64_t b) { return wrapTo(I{}(a, b, type), type); }));
  });
}
// Integers wrap: they are added, subtracted and multiplied as unsigned ones.
template <typename OpT, typename F> void addWrapping(EvaluatorTable &table, F f) {
  addBinary<OpT>(table, f, [](int64_t a, int64_t b, mlir::Type) { return int64_t(F{}(uint64_t(a), uint64_t(b))); });
}
template <typename OpT, typename F> void addBits(EvaluatorTable &table, F) {
  table.add<OpT>(+[](OpT, Evaluation &e) { return e.give(map2<int64_t, int64_t>(e, F{})); });
}

bool less(int64_t a, int64_t b, mlir::Type type) { return isUnsigned(type) ? uint64_t(a) < uint64_t(b) : a < b; }

// Integer division and remainders: `f` gets a non-zero divisor.
template <typename F> mlir::LogicalResult divide(Evaluation &e, F f) {
  mlir::Type type = e.operands[0].elementType();
  bool byZero = false;
  Tensor result = map2<int64_t, int64_t>(e, [&](int64_t a, int64_t b) -> int64_t {
    if (b == 0) {
      byZero = true;
      return 0;
    }
    return wrapTo(f(a, b, isUnsigned(type)), type);
  });
  if (byZero) return e.fail("divides an integer by zero");
  return e.give(std::move(result));
}
// The one overflow, lowest / -1, wraps.
int64_t quotient(int64_t a, int64_t b, bool isU) {
  if (isU) return uint64_t(a) / uint64_t(b);
  return b == -1 ? int64_t(0 - uint64_t(a)) : a / b;
}
int64_t remainder(int64_t a, int64_t b, bool isU) {
  if (isU) return uint64_t(a) % uint64_t(b);
  return b == -1 ? 0 : a % b;
}

mlir::LogicalResult evaluateDiv(ir::DivOp, Evaluation &e) {
  if (e.operands[0].isFloat()) return e.give(map2<double, double>(e, [](double a, double b) { return a / b; }));
  return divide(e, quotient);
}
mlir::LogicalResult evaluateRem(ir::RemOp, Evaluation &e) {
  if (e.operands[0].isFloat())
    return e.give(map2<double, double>(e, [](double a, double b) { return std::fmod(a, b); }));
  return divide(e, remainder);
}
mlir::LogicalResult evaluateMod(ir::ModOp, Evaluation &e) {
  if (e.operands[0].isFloat())
    return e.give(map2<double, double>(e, [](double a, double b) {
      double rest = std::fmod(a, b);
      if (rest == 0) return std::copysign(0.0, b);
      return (rest < 0) != (b < 0) ? rest + b : rest;
    }));
  return divide(e, [](int64_t a, int64_t b, bool isU) {
    int64_t rest = remainder(a, b, isU);
    return !isU && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
  });
}

// Integer powers wrap; a negative exponent truncates the real result.
int64_t integerPower(int64_t base, int64_t exponent, bool signedExponent) {
  if (signedExponent && exponent < 0) {
    if (base == 1) return 1;
    if (base == -1) return exponent & 1 ? -1 : 1;
    return 0;
  }
  uint64_t result = 1, square = base;
  for (uint64_t left = exponent; left; left >>= 1, square *= square)
    if (left & 1) result *= square;
  return result;
}
mlir::LogicalResult evaluatePow(ir::PowOp, Evaluation &e) {
  mlir::Type left = e.operands[0].elementType(), right = e.operands[1].elementType();
  if (!e.operands[0].isFloat() && !e.operands[1].isFloat())
    return e.give(map2<int64_t, int64_t>(
        e, [&](int64_t a, int64_t b) { return wrapTo(integerPower(a, b, !isUnsigned(right)), left); }));
  Elements<double> a = e.operands[0].doubles(), b = e.operands[1].doubles();
  auto power = [](double x, double y) { return std::pow(x, y); };
  if (e.operands[0].isFloat()) return e.give(zip<double>(e, a, b, power));
  return e.give(zip<int64_t>(e, a, b, [&](double x, double y) { return saturateTo(std::pow(x, y), left); }));
}

mlir::LogicalResult evaluateShl(ir::ShlOp, Evaluation &e) {
  mlir::Type type = e.operands[0].elementType();
  uint64_t width = type.getIntOrFloatBitWidth();
  return e.give(map2<int64_t, int64_t>(
      e, [&](int64_t a, int64_t b) { return uint64_t(b) >= width ? 0 : wrapTo(uint64_t(a) << b, type); }));
}
mlir::LogicalResult evaluateShr(ir::ShrOp, Evaluation &e) {
  mlir::Type type = e.operands[0].elementType();
  uint64_t width = type.getIntOrFloatBitWidth();
  return e.give(map2<int64_t, int64_t>(e, [&](int64_t a, int64_t b) -> int64_t {
    if (isUnsigned(type)) return uint64_t(b) >= width ? 0 : uint64_t(a) >> b;
    return a >> (uint64_t(b) >= width ? 63 : b);
  }));
}

template <typename T, typename Less> bool holds(ir::ComparePredicate predicate, T a, T b, Less less) {
  switch (predicate) {
  case ir::ComparePredicate::eq: return a == b;
  case ir::ComparePredicate::ne: return a != b;
  case ir::ComparePredicate::lt: return less(a, b);
  case ir::ComparePredicate::le: return less(a, b) || a == b;
  case ir::ComparePredicate::gt: return less(b, a);
  case ir::ComparePredicate::ge: return less(b, a) || a == b;
  }
  return false;
}
mlir::LogicalResult evaluateCompare(ir::CompareOp op, Evaluation &e) {
  mlir::Type type = e.operands[0].elementType();
  if (e.operands[0].isFloat())
    return e.give(map2<double, int64_t>(e, [&](double a, double b) -> int64_t {
      return holds(op.getPredicate(), a, b, [](double x, double y) { return x < y; });
    }));
  return e.give(map2<int64_t, int64_t>(e, [&](int64_t a, int64_t b) -> int64_t {
    return holds(op.getPredicate(), a, b, [&](int64_t x, int64_t y) { return less(x, y, type); });
  }));
}

mlir::LogicalResult evaluateSelect(ir::SelectOp, Evaluation &e) {
  return byClass(e.operands[1], [&](auto zero) {
    using T = decltype(zero);
    Elements<int64_t> condition = e.operands[0].integers();
    Elements<T> onTrue = e.operands[1].elements<T>(), onFalse = e.operands[2].elements<T>();
    mlir::RankedTensorType type = e.resultType();
    bool splat = condition.isSplat() && onTrue.isSplat() && onFalse.isSplat();
    if (splat && type.getNumElements()) return e.give(Tensor::of<T>(type, {condition[0] ? onTrue[0] : onFalse[0]}));
    std::vector<T> result(type.getNumElements());
    std::array<Strides, 3> strides;
    for (int i = 0; i < 3; ++i) strides[i] = broadcastStrides(e.operands[i].shape(), type.getShape());
    walk(type.getShape(), strides, [&](int64_t i, const std::array<int64_t, 3> &at) {
      result[i] = condition[at[0]] ? onTrue[at[1]] : onFalse[at[2]];
    });
    return e.give(Tensor::of<T>(type, std::move(result)));
  });
}

// A cast rounds even where results are kept in full precision: rounding is what it is for.
mlir::LogicalResult evaluateCast(ir::CastOp, Evaluation &e) {
  mlir::Type from = e.operands[0].elementType(), to = e.resultType().getElementType();
  bool fromFloat = e.operands[0].isFloat(), toFloat = llvm::isa<mlir::FloatType>(to);
  if (fromFloat && toFloat) return e.give(map<double, double>(e, [&](double x) { return roundTo(x, to); }));
  if (fromFloat && to.isInteger(1)) return e.give(map<double, int64_t>(e, [](double x) { return int64_t(x != 0); }));
  if (fromFloat) return e.give(map<double, int64_t>(e, [&](double x) { return saturateTo(x, to); }));
  if (toFloat)
    return e.give(map<int64_t, double>(e, [&](int64_t x) {
      // 64-bit integers go to f32 in one rounding, not by way of double.
      if (to.isF32()) return double(isUnsigned(from) ? float(uint64_t(x)) : float(x));
      return roundTo(toDouble(x, from), to);
    }));
  if (to.isInteger(1)) return e.give(map<int64_t, int64_t>(e, [](int64_t x) { return int64_t(x != 0); }));
  return e.give(map<int64_t, int64_t>(e, [&](int64_t x) { return wrapTo(x, to); }));
}

mlir::LogicalResult evaluateBitcast(ir::BitcastOp, Evaluation &e) {
  return e.give(Tensor::ofBytes(e.resultType(), e.operands[0].bytes(/*keepSplat=*/true)));
}

mlir::LogicalResult evaluateIsNan(ir::IsNanOp, Evaluation &e) {
  return e.give(map<double, int64_t>(e, [](double x) { return int64_t(std::isnan(x)); }));
}
mlir::LogicalResult evaluateIsInf(ir::IsInfOp op, Evaluation &e) {
  bool negative = op.getDetectNegative(), positive = op.getDetectPositive();
  return e.give(
      map<double, int64_t>(e, [&](double x) { return int64_t(std::isinf(x) && (x < 0 ? negative : positive)); }));
}

mlir::LogicalResult evaluateInRange(ir::InRangeOp op, Evaluation &e) {
  double low = op.getLow().convertToDouble(), high = op.getHigh().convertToDouble();
  Elements<double> in = e.operands[0].floats();
  for (int64_t i = 0; i < e.operands[0].count(); ++i)
    if (!(in[i] >= low && in[i] <= high))
      return e.fail("gets " + decimal::shortest(in[i]) + ", expected " + decimal::shortest(low) + " to " +
                    decimal::shortest(high));
  return e.give(e.operands[0]);
}

void addUnaries(EvaluatorTable &table) {
  table.add(evaluateInRange);
  addNumber<ir::AbsOp>(
      table, [](double x) { return std::fabs(x); },
      [](int64_t x, mlir::Type type) { return !isUnsigned(type) && x < 0 ? int64_t(0 - uint64_t(x)) : x; });
  addNumber<ir::NegOp>(
      table, [](double x) { return -x; }, [](int64_t x, mlir::Type) { return int64_t(0 - uint64_t(x)); });
  addNumber<ir::SignOp>(
      table, [](double x) { return x > 0   ? 1.0
                                   : x < 0 ? -1.0
                                           : x; },
      [](int64_t x, mlir::Type type) -> int64_t { return x == 0                       ? 0
                                                         : !isUnsigned(type) && x < 0 ? -1
                                                                                      : 1; });
  addNumber<ir::ReluOp>(
      table, [](double x) { return larger(x, 0.0); },
      [](int64_t x, mlir::Type type) { return !isUnsigned(type) && x < 0 ? int64_t(0) : x; });
  addNumber<ir::NotOp>(table, [](double x) { return x; }, [](int64_t x, mlir::Type) { return ~x; });
  addFloat<ir::ExpOp>(table, [](double x) { return std::exp(x); });
  addFloat<ir::LogOp>(table, [](double x) { return std::log(x); });
  addFloat<ir::Log1pOp>(table, [](double x) { return std::log1p(x); });
  addFloat<ir::Expm1Op>(table, [](double x) { return std::expm1(x); });
  addFloat<ir::SqrtOp>(table, [](double x) { return std::sqrt(x); });
  addFloat<ir::RsqrtOp>(table, [](double x) { return 1 / std::sqrt(x); });
  addFloat<ir::ReciprocalOp>(table, [](double x) { return 1 / x; });
  addFloat<ir::FloorOp>(table, [](double x) { return std::floor(x); });
  addFloat<ir::CeilOp>(table, [](double x) { return std::ceil(x); });
  addFloat<ir::RoundOp>(table, [](double x) { return std::nearbyint(x); });
  addFloat<ir::SinOp>(table, [](double x) { return std::sin(x); });
  addFloat<ir::CosOp>(table, [](double x) { return std::cos(x); });
  addFloat<ir::TanOp>(table, [](double x) { return std::tan(x); });
  addFloat<ir::AsinOp>(table, [](double x) { return std::asin(x); });
  addFloat<ir::AcosOp>(table, [](double x) { return std::acos(x); });
  addFloat<ir::AtanOp>(table, [](double x) { return std::atan(x); });
  addFloat<ir::SinhOp>(table, [](double x) { return std::sinh(x); });
  addFloat<ir::CoshOp>(table, [](double x) { return std::cosh(x); });
  addFloat<ir::TanhOp>(table, [](double x) { return std::tanh(x); });
  addFloat<ir::AsinhOp>(table, [](double x) { return std::asinh(x); });
  addFloat<ir::AcoshOp>(table, [](double x) { return std::acosh(x); });
  addFloat<ir::AtanhOp>(table, [](double x) { return std::atanh(x); });
  addFloat<ir::ErfOp>(table, [](double x) { return std::erf(x); });
  addFloat<ir::SigmoidOp>(table, [](double x) { return 1 / (1 + std::exp(-x)); });
  table.add(evaluateIsNan, evaluateIsInf, evaluateCast, evaluateBitcast);
}

} // namespace

void addElementwise(EvaluatorTable &table) {
  addUnaries(table);
  addWrapping<ir::AddOp>(table, std::plus<>());
  addWrapping<ir::SubOp>(table, std::minus<>());
  addWrapping<ir::MulOp>(table, std::multiplies<>());
  addBits<ir::AndOp>(table, std::bit_and<>());
  addBits<ir::OrOp>(table, std::bit_or<>());
  addBits<ir::XorOp>(table, std::bit_xor<>());
  addBinary<ir::MaxOp>(
      table, [](double a, double b) { return larger(a, b); },
      [](int64_t a, int64_t b, mlir::Type type) { return less(a, b, type) ? b : a; });
  addBinary<ir::MinOp>(
      table, [](double a, double b) { return smaller(a, b); },
      [](int64_t a, int64_t b, mlir::Type type) { return less(b, a, type) ? b : a; });
  table.add(evaluateDiv, evaluateRem, evaluateMod, evaluatePow, evaluateShl, evaluateShr, evaluateCompare,
            evaluateSelect);
}

} // namespace sprig::interp
