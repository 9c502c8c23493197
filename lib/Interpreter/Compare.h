// Comparison of two tensors of one type: what `sprig check` calls agreement.
// For bisection and tests.
#pragma once
#include "lib/Interpreter/Tensor.h"

namespace sprig::interp {

/// |got - want| <= atol + rtol |want|; NaN equals NaN; integers and booleans must be equal.
struct Tolerance {
  double rtol = 1e-3, atol = 1e-5;
};

/// The element that lies furthest beyond its tolerance.
struct Difference {
  int64_t index = -1; ///< row-major; -1 when all agree
  double got = 0, want = 0;
  double error = 0; ///< the largest |got - want|, at `index`; infinite where only one side is a number

  explicit operator bool() const { return index >= 0; }
};

Difference compare(const Tensor &got, const Tensor &want, const Tolerance &tolerance);

/// Row-major index to coordinates.
llvm::SmallVector<int64_t> coordinates(int64_t index, llvm::ArrayRef<int64_t> shape);

} // namespace sprig::interp
