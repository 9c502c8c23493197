// The clock of what is timed, middle values, and how a ratio is printed.
#pragma once
#include "tools/sprig/Report.h"
#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

namespace sprig::cli {

using Clock = std::chrono::steady_clock;
inline double secondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}
inline double nsSince(Clock::time_point start) { return 1e9 * secondsSince(start); }

/// The middle one of at least one value; of an even number the upper of the two in the middle.
inline double median(std::vector<double> values) {
  auto middle = values.begin() + ptrdiff_t(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// "1.25 times"
inline std::string times(double ratio) { return formatDouble(ratio, 3) + " times"; }

} // namespace sprig::cli
