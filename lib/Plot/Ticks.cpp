#include "lib/Plot/Ticks.h"
#include "runtime/base/Decimal.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace sprig::plot {

double Scale::share(double value) const {
  if (log) return (std::log10(value) - std::log10(low)) / (std::log10(high) - std::log10(low));
  return (value - low) / (high - low);
}

Scale linearScale(double low, double high, int count, double room) {
  if (!std::isfinite(low) || !std::isfinite(high) || low > high) low = 0, high = 1;
  // Apart by enough for ticks that differ in a double.
  double least = std::max({std::fabs(low), std::fabs(high), 1e-300}) * 1e-9;
  if (high - low < least) {
    double half = low == 0 && high == 0 ? 1 : std::max(std::fabs(high), std::fabs(low)) * 0.1;
    low -= half, high += half;
  }
  double margin = (high - low) * room;
  Scale scale{low - margin, high + margin, false, {}, {}};
  double raw = (scale.high - scale.low) / count, power = std::pow(10, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (double factor : {1.0, 2.0, 5.0})
    if (factor * power >= raw) {
      step = factor * power;
      break;
    }
  for (double k = std::ceil(scale.low / step - 1e-9); k * step <= scale.high + step * 1e-9; ++k)
    scale.ticks.push_back(k == 0 ? 0 : k * step);
  return scale;
}

Scale logScale(double low, double high, int count) {
  if (!(low > 0) || !std::isfinite(high) || low > high) low = 0.1, high = 1;
  if (high / low < 1.0001) low /= 2, high *= 2;
  Scale scale{low, high, true, {}, {}};
  double margin = std::pow(high, 0.04) / std::pow(low, 0.04); // their ratio may be no number
  scale.low = std::max(low / margin, std::numeric_limits<double>::min());
  scale.high = std::min(high * margin, std::numeric_limits<double>::max());
  int first = int(std::floor(std::log10(scale.low))), last = int(std::ceil(std::log10(scale.high)));
  int inside = int(std::floor(std::log10(scale.high)) - std::ceil(std::log10(scale.low))) + 1;
  int every = std::max(1, (inside + count - 1) / count);
  bool few = std::log10(scale.high / scale.low) < 3;
  for (int decade = first; decade <= last; ++decade)
    for (double factor = 1; factor < 10; ++factor) {
      double value = factor * std::pow(10, decade);
      if (value < scale.low || value > scale.high) continue;
      bool numbered = factor == 1 ? (decade - first) % every == 0 : few && (factor == 2 || factor == 5);
      (numbered ? scale.ticks : scale.minor).push_back(value);
    }
  return scale;
}

std::string tickText(double value, double step) {
  double magnitude = std::fabs(value);
  if (value == 0) return "0";
  // Steps of a thousand and more are counted in thousands.
  for (auto [unit, name] : {std::pair(1e9, "G"), std::pair(1e6, "M"), std::pair(1e3, "k")})
    if (magnitude >= unit && step >= unit / 100 && magnitude < unit * 1000)
      return decimal::fixed(value / unit, step >= unit ? 0 : step >= unit / 10 ? 1 : 2) + name;
  if (magnitude >= 1e7 || step < 1e-5) return decimal::general(value, 4);
  int decimals = step >= 1 ? 0 : int(std::ceil(-std::log10(step) - 1e-9));
  return decimal::fixed(value, decimals);
}

std::string tickText(double value) {
  if (value >= 1e-3 && value < 1e4) return decimal::general(value);
  return decimal::general(value, 1);
}

} // namespace sprig::plot
