// Charts as SVG: panels of curves above each other over one axis, legible on light and dark pages.
// For `sprig train --plot` and sweeps. Values that are not finite are gaps, which a mark shows; thousands of points
// become the few that a pixel can show, and no extreme is lost.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace sprig::plot {

struct Series {
  std::string name; ///< in the legend; "" has no entry
  std::vector<double> x, y;
  int color = 0;        ///< of the palette, by number
  bool faint = false;   ///< raw values behind a smooth curve
  bool markers = false; ///< a dot at each point, for few of them
  bool right = false;   ///< measured by the panel's right axis
};

enum class LogChoice { never, always, whenItHelps };

struct Panel {
  std::string label; ///< of the left axis
  std::vector<Series> series;
  double height = 220;
  LogChoice log = LogChoice::never;
  bool percent = false;   ///< values of 0 to 1 are written as 0% to 100%
  std::string rightLabel; ///< of the right axis, where a series has it
};

struct Chart {
  std::string title, subtitle;
  std::string xLabel;
  std::vector<Panel> panels;
  bool logX = false;
  /// Names at x = 0, 1, ... instead of numbers.
  std::vector<std::string> categories;
};

std::string toSvg(const Chart &chart);

/// At most about `columns` × 4 points of a curve: of each column of equal width the first, smallest, largest and last.
/// Points that are not finite are kept as one gap each.
Series thinned(const Series &series, int columns, double low, double high, bool logX = false);

/// Exponential moving average that starts at the first value and jumps over what is not finite.
std::vector<double> smoothed(const std::vector<double> &values, double share);

/// Whether most values span so much that a logarithmic axis shows more; false where one is not above 0.
bool logHelps(const std::vector<const Series *> &series);

} // namespace sprig::plot
