#include "lib/Interpreter/Compare.h"
#include <cmath>
#include <limits>

namespace sprig::interp {

static double distance(double got, double want) {
  if (got == want || (std::isnan(got) && std::isnan(want))) return 0;
  double error = std::fabs(got - want);
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

// What is beyond a type's range is infinite in it: the oracle's doubles are rounded before they are compared.
Difference compare(const Tensor &got, const Tensor &want, const Tolerance &tolerance) {
  Difference worst;
  double worstExcess = -1;
  auto consider = [&](int64_t i, double g, double w, double error, double allowed) {
    if (error <= allowed) return;
    double excess = error - allowed;
    if (excess <= worstExcess) return;
    worstExcess = excess;
    worst = {i, g, w, error};
  };
  if (!got.isFloat()) {
    Elements<int64_t> a = got.integers(), b = want.integers();
    Elements<double> x = got.doubles(), y = want.doubles();
    for (int64_t i = 0; i < got.count(); ++i)
      if (a[i] != b[i]) consider(i, x[i], y[i], std::max(distance(x[i], y[i]), std::numeric_limits<double>::min()), 0);
    return worst;
  }
  Tensor rounded = want.rounded();
  Elements<double> a = got.floats(), b = rounded.floats();
  for (int64_t i = 0; i < got.count(); ++i) {
    double error = distance(a[i], b[i]);
    double allowed = std::isfinite(b[i]) ? tolerance.atol + tolerance.rtol * std::fabs(b[i]) : 0;
    consider(i, a[i], b[i], error, allowed);
  }
  return worst;
}

llvm::SmallVector<int64_t> coordinates(int64_t index, llvm::ArrayRef<int64_t> shape) {
  llvm::SmallVector<int64_t> result(shape.size());
  for (int64_t d = int64_t(shape.size()) - 1; d >= 0; --d) {
    result[d] = index % shape[d];
    index /= shape[d];
  }
  return result;
}

} // namespace sprig::interp
