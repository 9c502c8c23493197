// Values of the main program that depend on how long the axis is in a call, and values without what lies behind. For
// the pass mask-lengths.
#pragma once
#include "dialects/NN/ExpressionBuilder.h"
#include "lib/Lengths/Length.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace sprig {

/// What does not count, of any element type.
enum class Neutral {
  zero,
  negativeZero, ///< of floats; of others zero: x + -0 is x, be it 0 or -0
  one,
  lowest,
  highest,
};

class Masks {
public:
  explicit Masks(mlir::Value axis) : axis(axis) {}

  /// A length as a scalar of i64.
  mlir::Value number(ir::Expression &e, const Length &length) const;
  static mlir::Value integer(ir::Expression &e, int64_t value);
  /// 0, 1, 2, ... of i64.
  static mlir::Value places(ir::Expression &e, int64_t count);
  /// The value with something else behind a dimension's length.
  mlir::Value mask(ir::Expression &e, mlir::Value value, int64_t dim, const Length &length, Neutral fill) const;
  mlir::Value mask(ir::Expression &e, mlir::Value value, int64_t dim, const Length &length, mlir::Value fill) const;

private:
  mlir::Value axis;
};

} // namespace sprig
