// The steps of a reduction: its starting value and its combination.
// For reductions and pools; `max` and `min` let NaN through, integers wrap.
#pragma once
#include "lib/Interpreter/Elementwise.h"
#include "lib/Interpreter/Numbers.h"

namespace sprig::interp {

/// The last argument only picks the class.
double reduceStart(ir::ReduceKind kind, mlir::Type type, double);
int64_t reduceStart(ir::ReduceKind kind, mlir::Type type, int64_t);
double reduceStep(ir::ReduceKind kind, mlir::Type type, double a, double b);
int64_t reduceStep(ir::ReduceKind kind, mlir::Type type, int64_t a, int64_t b);

} // namespace sprig::interp
