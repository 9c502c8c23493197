// The steps of a reduction: its starting value and its combination.
// For reductions and pools; `max` and `min` let NaN through, integers wrap.
#pragma once
#include "lib/Interpreter/Elementwise.h"
#include "lib/Interpreter/Numbers.h"

namespace sprig::interp {

/// The last argument only picks the class.
template <typename T> T reduceStart(ir::ReduceKind kind, mlir::Type type, T) {
  if (kind == ir::ReduceKind::sum || kind == ir::ReduceKind::prod) return kind == ir::ReduceKind::prod;
  bool isMax = kind == ir::ReduceKind::max;
  if constexpr (std::is_same_v<T, double>)
    return isMax ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  else
    return isMax ? lowestOf(type) : highestOf(type);
}
double reduceStep(ir::ReduceKind kind, mlir::Type type, double a, double b);
int64_t reduceStep(ir::ReduceKind kind, mlir::Type type, int64_t a, int64_t b);

} // namespace sprig::interp
