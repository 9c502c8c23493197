// Short ways to emit arith and math operations on scalars and on 1-d vectors alike.
// For scalar bodies of elementwise operations and for the expansion of math functions: every constant takes the shape
// of the value that it meets, so one piece of code serves both.
#pragma once
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

namespace sprig {

class ScalarBuilder {
public:
  using Value = mlir::Value;
  using Type = mlir::Type;
  ScalarBuilder(mlir::OpBuilder &builder, mlir::Location loc) : b(builder), loc(loc) {}

  mlir::OpBuilder &b;
  mlir::Location loc;

  /// `element`, in the shape of `model`.
  static Type like(Type model, Type element) {
    auto vector = llvm::dyn_cast<mlir::VectorType>(model);
    return vector ? Type(mlir::VectorType::get(vector.getShape(), element)) : element;
  }
  static Type elementOf(Value v) { return mlir::getElementTypeOrSelf(v.getType()); }
  static unsigned widthOf(Value v) { return elementOf(v).getIntOrFloatBitWidth(); }

  /// A constant of a scalar or vector type.
  Value constant(Type type, mlir::Attribute element) {
    if (auto vector = llvm::dyn_cast<mlir::VectorType>(type)) element = mlir::DenseElementsAttr::get(vector, element);
    return mlir::arith::ConstantOp::create(b, loc, type, llvm::cast<mlir::TypedAttr>(element));
  }
  Value f(Value model, double value) { return constant(model.getType(), b.getFloatAttr(elementOf(model), value)); }
  Value i(Type type, const llvm::APInt &value) {
    return constant(type, b.getIntegerAttr(mlir::getElementTypeOrSelf(type), value));
  }
  Value i(Value model, int64_t value) {
    return i(model.getType(), llvm::APInt(widthOf(model), value, true, /*implicitTrunc=*/true));
  }

  // Floats.
  Value add(Value x, Value y) { return mlir::arith::AddFOp::create(b, loc, x, y); }
  Value sub(Value x, Value y) { return mlir::arith::SubFOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return mlir::arith::MulFOp::create(b, loc, x, y); }
  Value div(Value x, Value y) { return mlir::arith::DivFOp::create(b, loc, x, y); }
  Value add(Value x, double y) { return add(x, f(x, y)); }
  Value sub(Value x, double y) { return sub(x, f(x, y)); }
  Value mul(Value x, double y) { return mul(x, f(x, y)); }
  Value fma(Value x, Value y, Value z) { return mlir::math::FmaOp::create(b, loc, x, y, z); }
  Value fma(Value x, Value y, double z) { return fma(x, y, f(x, z)); }
  Value fma(Value x, double y, double z) { return fma(x, f(x, y), f(x, z)); }
  Value fma(Value x, double y, Value z) { return fma(x, f(x, y), z); }
  Value neg(Value x) { return mlir::arith::NegFOp::create(b, loc, x); }
  Value abs(Value x) { return mlir::math::AbsFOp::create(b, loc, x); }
  Value sqrt(Value x) { return mlir::math::SqrtOp::create(b, loc, x); }
  Value copySign(Value magnitude, Value sign) { return mlir::math::CopySignOp::create(b, loc, magnitude, sign); }
  Value cmp(mlir::arith::CmpFPredicate p, Value x, Value y) { return mlir::arith::CmpFOp::create(b, loc, p, x, y); }
  Value cmp(mlir::arith::CmpFPredicate p, Value x, double y) { return cmp(p, x, f(x, y)); }
  Value lt(Value x, double y) { return cmp(mlir::arith::CmpFPredicate::OLT, x, y); }
  Value gt(Value x, double y) { return cmp(mlir::arith::CmpFPredicate::OGT, x, y); }
  Value isNan(Value x) { return cmp(mlir::arith::CmpFPredicate::UNO, x, x); }
  /// The polynomial with these coefficients, lowest first, by Horner's rule in fused steps.
  Value polynomial(Value x, llvm::ArrayRef<double> coefficients) {
    Value sum = f(x, coefficients.back());
    for (double c : llvm::reverse(coefficients.drop_back())) sum = fma(sum, x, c);
    return sum;
  }

  // Integers.
  Value addi(Value x, Value y) { return mlir::arith::AddIOp::create(b, loc, x, y); }
  Value subi(Value x, Value y) { return mlir::arith::SubIOp::create(b, loc, x, y); }
  Value muli(Value x, Value y) { return mlir::arith::MulIOp::create(b, loc, x, y); }
  Value andi(Value x, Value y) { return mlir::arith::AndIOp::create(b, loc, x, y); }
  Value ori(Value x, Value y) { return mlir::arith::OrIOp::create(b, loc, x, y); }
  Value xori(Value x, Value y) { return mlir::arith::XOrIOp::create(b, loc, x, y); }
  Value shl(Value x, Value y) { return mlir::arith::ShLIOp::create(b, loc, x, y); }
  Value shrs(Value x, Value y) { return mlir::arith::ShRSIOp::create(b, loc, x, y); }
  Value shru(Value x, Value y) { return mlir::arith::ShRUIOp::create(b, loc, x, y); }
  Value addi(Value x, int64_t y) { return addi(x, i(x, y)); }
  Value andi(Value x, int64_t y) { return andi(x, i(x, y)); }
  Value ori(Value x, int64_t y) { return ori(x, i(x, y)); }
  Value xori(Value x, int64_t y) { return xori(x, i(x, y)); }
  Value shl(Value x, int64_t y) { return shl(x, i(x, y)); }
  Value shrs(Value x, int64_t y) { return shrs(x, i(x, y)); }
  Value shru(Value x, int64_t y) { return shru(x, i(x, y)); }
  Value cmp(mlir::arith::CmpIPredicate p, Value x, Value y) { return mlir::arith::CmpIOp::create(b, loc, p, x, y); }
  Value cmp(mlir::arith::CmpIPredicate p, Value x, int64_t y) { return cmp(p, x, i(x, y)); }

  // Any type.
  Value select(Value c, Value x, Value y) { return mlir::arith::SelectOp::create(b, loc, c, x, y); }
  /// A conversion operation (arith.extf, arith.sitofp, ...) to another element type.
  template <typename OpT> Value to(Value x, Type element) { return OpT::create(b, loc, like(x.getType(), element), x); }
  Value bits(Value x, Type element) { return to<mlir::arith::BitcastOp>(x, element); }
};

} // namespace sprig
