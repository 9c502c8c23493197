#include "tools/sprig/run/ArrayLoss.h"
#include "runtime/base/Decimal.h"
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace sprig::cli {

void ArrayLoss::add(const data::Array &reference, const data::Array &other) {
  if (reference.shape != other.shape) {
    isOther = true;
    return;
  }
  for (int64_t i = 0, count = reference.elements(); i < count; ++i) {
    double a = reference.at(i), b = other.at(i);
    ++(std::isfinite(a) ? compared : passedOver);
    if (!std::isfinite(a)) continue;
    if (!std::isfinite(b)) b = INFINITY; // what was a number is none any more: nothing but noise
    meter.add(a, b);
    difference = std::max(difference, std::abs(a - b));
  }
}

double ArrayLoss::decibels() const {
  if (isOther) return -INFINITY;
  if (compared == 0 && passedOver > 0) return NAN;
  return difference == 0 ? INFINITY : meter.decibels();
}

std::string decibelText(double decibels) {
  if (!std::isfinite(decibels)) return decibels > 0 ? "exact" : "not finite";
  return decimal::fixed(decibels, 1);
}

void putDecibels(Json &json, const char *name, double decibels) {
  json[name] = std::isfinite(decibels) ? Json(decibels) : Json(nullptr);
  if (!std::isfinite(decibels) && !(decibels > 0)) json["finite"] = false;
}

} // namespace sprig::cli
