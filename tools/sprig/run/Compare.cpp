#include "tools/sprig/run/Compare.h"
#include <algorithm>
#include <cmath>
#include <cstdio>

namespace sprig::cli {
namespace {

std::string place(const data::Array &array, int64_t index) {
  if (array.shape.empty()) return "";
  std::string text;
  for (size_t d = array.shape.size(); d-- > 0;) {
    text = std::to_string(index % array.shape[d]) + (text.empty() ? "" : ", ") + text;
    index /= array.shape[d];
  }
  return " at [" + text + "]";
}

std::string number(const data::Array &array, int64_t index) {
  if (!data::isFloat(array.dtype)) return std::to_string(array.integerAt(index));
  char text[40];
  std::snprintf(text, sizeof text, "%.9g", array.at(index));
  return text;
}

} // namespace

Tolerance widened(Tolerance tolerance, data::DType dtype) {
  if (dtype == data::DType::f16) return {std::max(tolerance.rtol, 4e-3), std::max(tolerance.atol, 1e-3)};
  if (dtype == data::DType::bf16) return {std::max(tolerance.rtol, 3e-2), std::max(tolerance.atol, 1e-2)};
  return tolerance;
}

Comparison compare(const data::Array &got, const data::Array &want, Tolerance tolerance) {
  Comparison result;
  if (got.dtype != want.dtype || got.shape != want.shape) {
    result.reason = "got " + data::describe(got) + ", expected " + data::describe(want);
    return result;
  }
  tolerance = widened(tolerance, want.dtype);
  bool exact = !data::isFloat(want.dtype);
  int64_t wrong = 0, first = -1, count = want.elements();
  for (int64_t i = 0; i < count; ++i) {
    bool ok;
    if (exact) {
      ok = got.integerAt(i) == want.integerAt(i);
      if (!ok) result.largestError = std::max(result.largestError, std::fabs(got.at(i) - want.at(i)));
    } else {
      double g = got.at(i), w = want.at(i);
      double error = std::fabs(g - w);
      ok = (std::isnan(g) && std::isnan(w)) || g == w || error <= tolerance.atol + tolerance.rtol * std::fabs(w);
      if (std::isfinite(error)) result.largestError = std::max(result.largestError, error);
    }
    if (!ok && wrong++ == 0) first = i;
  }
  result.passed = wrong == 0;
  result.isOfValues = wrong != 0;
  if (wrong)
    result.reason = std::to_string(wrong) + " of " + std::to_string(count) + " values differ, the first" +
                    place(want, first) + ": got " + number(got, first) + ", expected " + number(want, first);
  return result;
}

} // namespace sprig::cli
