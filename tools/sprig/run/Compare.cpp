#include "tools/sprig/run/Compare.h"
#include "runtime/base/Decimal.h"
#include "tools/sprig/run/ArrayLoss.h"
#include <algorithm>
#include <cmath>

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
  return decimal::general(array.at(index), 9);
}

// More digits than tables have: what just misses is seen to miss.
std::string inDecibels(double decibels) { return std::isfinite(decibels) ? formatDouble(decibels) + " dB" : "none"; }

// Which elements are wrong, and by how much.
struct Errors {
  int64_t wrong = 0, first = -1;
  double largest = 0;
  void add(int64_t index, bool isRight, double error) {
    if (std::isfinite(error)) largest = std::max(largest, error);
    if (!isRight && wrong++ == 0) first = index;
  }
};

Errors errorsOf(const data::Array &got, const data::Array &want, const Judgement &judgement) {
  Errors errors;
  const Tolerance tolerance = judgement.toleranceOf(want.dtype);
  const bool isExact = !data::isFloat(want.dtype), boundsElements = judgement.boundsElements();
  for (int64_t i = 0, count = want.elements(); i < count; ++i) {
    double g = got.at(i), w = want.at(i), error = std::fabs(g - w);
    if (isExact) {
      errors.add(i, got.integerAt(i) == want.integerAt(i), error);
      continue;
    }
    bool isSame = (std::isnan(g) && std::isnan(w)) || g == w;
    bool isNear = !boundsElements || error <= tolerance.atol + tolerance.rtol * std::fabs(w);
    errors.add(i, isSame || (isNear && std::isfinite(error)), error);
  }
  return errors;
}

} // namespace

Tolerance Judgement::toleranceOf(data::DType dtype) const {
  switch (dtype) {
  // Half types: a few units of their precision, however little is asked for.
  case data::DType::f16: return {std::max(rtol.value_or(0), 4e-3), std::max(atol.value_or(0), 1e-3)};
  case data::DType::bf16: return {std::max(rtol.value_or(0), 3e-2), std::max(atol.value_or(0), 1e-2)};
  case data::DType::f64:
    if (!isBackendSet) return {rtol.value_or(1e-6), atol.value_or(1e-9)};
    [[fallthrough]];
  default: return {rtol.value_or(1e-3), atol.value_or(isBackendSet ? 1e-7 : 1e-5)};
  }
}

Comparison compare(const data::Array &got, const data::Array &want, const Judgement &judgement) {
  Comparison result;
  if (got.dtype != want.dtype || got.shape != want.shape) {
    result.reason = "got " + data::describe(got) + ", expected " + data::describe(want);
    return result;
  }
  const Errors errors = errorsOf(got, want, judgement);
  ArrayLoss loss;
  loss.add(want, got);
  result.largestError = errors.largest;
  result.decibels = loss.decibels();
  // Where all that was expected is not finite there is no signal to judge by: elements say it all.
  const bool isNoisy = judgement.leastDecibels && data::isFloat(want.dtype) && loss.comparesAny() &&
                       !(result.decibels >= *judgement.leastDecibels);
  result.passed = errors.wrong == 0 && !isNoisy;
  result.isOfValues = !result.passed;
  if (errors.wrong)
    result.reason = std::to_string(errors.wrong) + " of " + std::to_string(want.elements()) +
                    " values differ, the first" + place(want, errors.first) + ": got " + number(got, errors.first) +
                    ", expected " + number(want, errors.first);
  else if (isNoisy)
    result.reason = "signal over noise is " + inDecibels(result.decibels) + ", expected at least " +
                    inDecibels(*judgement.leastDecibels);
  return result;
}

} // namespace sprig::cli
