// Where an axis has its ticks, and how numbers are written beside them. For lib/Plot.
#pragma once
#include <string>
#include <vector>

namespace sprig::plot {

/// An axis from `low` to `high`, which its ticks lie within. On a logarithmic one both are above 0.
struct Scale {
  double low = 0, high = 1;
  bool log = false;
  std::vector<double> ticks;
  std::vector<double> minor; ///< lines without a number

  /// 0 at low, 1 at high.
  double share(double value) const;
};

/// Ticks at 1, 2 or 5 times a power of ten, about `count` of them; the ends are widened to `room` (a share) beyond the
/// values. Equal or non-finite ends are put apart.
Scale linearScale(double low, double high, int count, double room = 0);
/// From a value's decade on; ticks at powers of ten, and at 2 and 5 between them where there are few.
Scale logScale(double low, double high, int count);

/// "0.25", "1e-05", "12k", "3M": short, and the same number of decimals as the step between ticks needs.
std::string tickText(double value, double step);
/// Of a tick of a logarithmic scale.
std::string tickText(double value);

} // namespace sprig::plot
