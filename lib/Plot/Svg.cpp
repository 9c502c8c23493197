// Draws charts. Coordinates have one decimal; colours are classes, which a style sheet gives for light and dark pages.
#include "lib/Plot/Chart.h"
#include "lib/Plot/SvgText.h"
#include "lib/Plot/Ticks.h"
#include <algorithm>
#include <cmath>

namespace sprig::plot {
namespace {

constexpr double kWidth = 860, kLeft = 78, kRight = 28, kRightAxis = 72, kTop = 64, kGap = 34, kBottom = 56;

// The smallest and largest finite value of the series on one axis.
struct Extent {
  double low = INFINITY, high = -INFINITY;
  void add(double value) {
    if (!std::isfinite(value)) return;
    low = std::min(low, value), high = std::max(high, value);
  }
};

class PlotDrawing {
public:
  explicit PlotDrawing(const Chart &chart) : chart(chart) {
    for (const Panel &panel : chart.panels)
      for (const Series &series : panel.series) twin |= series.right;
    right = kWidth - (twin ? kRightAxis : kRight);
    Extent extent;
    for (const Panel &panel : chart.panels)
      for (const Series &series : panel.series)
        for (double value : series.x)
          if (!chart.logX || value > 0) extent.add(value);
    if (!chart.categories.empty())
      xScale = {-0.5, double(chart.categories.size()) - 0.5, false, {}, {}};
    else
      xScale = chart.logX ? logScale(extent.low, extent.high, 8) : linearScale(extent.low, extent.high, 9);
  }

  std::string draw() {
    double top = kTop;
    for (size_t i = 0; i < chart.panels.size(); ++i) {
      drawPanel(chart.panels[i], top, i + 1 == chart.panels.size());
      top += chart.panels[i].height + kGap;
    }
    double height = top - kGap + kBottom;
    return beginSvg(kWidth, height, kLeft, chart.title, chart.subtitle) +
           text((kLeft + right) / 2, height - 14, "quiet", chart.xLabel, "text-anchor=\"middle\"") + svg + "</svg>\n";
  }

private:
  const Chart &chart;
  bool twin = false;
  double right;
  Scale xScale;
  std::string svg;

  void line(const char *kind, double x1, double y1, double x2, double y2) {
    svg += "<path class=\"" + std::string(kind) + "\" d=\"M" + number(x1) + " " + number(y1) + "L" + number(x2) + " " +
           number(y2) + "\"/>\n";
  }
  double xOf(double value) const { return kLeft + xScale.share(value) * (right - kLeft); }

  static std::vector<const Series *> onAxis(const Panel &panel, bool rightAxis) {
    std::vector<const Series *> result;
    for (const Series &series : panel.series)
      if (series.right == rightAxis) result.push_back(&series);
    return result;
  }

  static Scale yScaleOf(const Panel &panel, bool rightAxis) {
    std::vector<const Series *> series = onAxis(panel, rightAxis);
    Extent extent;
    for (const Series *each : series)
      for (double value : each->y) extent.add(value);
    int count = std::max(3, int(panel.height / 32));
    bool log = panel.log == LogChoice::always || (panel.log == LogChoice::whenItHelps && logHelps(series));
    if (log && extent.low > 0) return logScale(extent.low, extent.high, count);
    Scale scale = linearScale(extent.low, extent.high, count, 0.06);
    // Times and the like are told from nothing on, or a hundredth more would look like twice as much.
    if (rightAxis && extent.low > 0) scale = linearScale(0, extent.high, count, 0.06);
    // Room below nothing is no use where values stop at nothing, nor above 100%.
    if (extent.low >= 0 && scale.low < 0) scale.low = 0;
    if (panel.percent && !rightAxis && extent.high <= 1 && scale.high > 1) scale.high = 1;
    return scale;
  }

  void drawPanel(const Panel &panel, double top, bool last) {
    double bottom = top + panel.height;
    Scale y = yScaleOf(panel, false);
    auto yOf = [&](const Scale &scale, double value) { return bottom - scale.share(value) * panel.height; };
    for (double tick : y.minor) line("minor", kLeft, yOf(y, tick), right, yOf(y, tick));
    drawTicksX(top, bottom, last);
    double step = y.ticks.size() > 1 ? y.ticks[1] - y.ticks[0] : 1;
    for (double tick : y.ticks) {
      line("grid", kLeft, yOf(y, tick), right, yOf(y, tick));
      std::string label = panel.percent ? tickText(tick * 100, step * 100) + "%"
                          : y.log       ? tickText(tick)
                                        : tickText(tick, step);
      svg += text(kLeft - 8, yOf(y, tick) + 4, "quiet", label, "text-anchor=\"end\"");
    }
    svg += "<rect class=\"frame\" x=\"" + number(kLeft) + "\" y=\"" + number(top) + "\" width=\"" +
           number(right - kLeft) + "\" height=\"" + number(panel.height) + "\"/>\n";
    axisLabel(panel.label + (y.log ? " (log)" : ""), 18, (top + bottom) / 2);
    std::vector<const Series *> onRight = onAxis(panel, true);
    Scale z;
    if (!onRight.empty()) {
      z = yScaleOf(panel, true);
      double zStep = z.ticks.size() > 1 ? z.ticks[1] - z.ticks[0] : 1;
      for (double tick : z.ticks)
        svg += text(right + 8, yOf(z, tick) + 4, "quiet", z.log ? tickText(tick) : tickText(tick, zStep));
      axisLabel(panel.rightLabel, kWidth - 12, (top + bottom) / 2);
    }
    for (const Series &series : panel.series) {
      const Scale &scale = series.right ? z : y;
      drawSeries(series, scale, top, [&](double value) { return yOf(scale, value); });
    }
    drawLegend(panel, top);
  }

  void axisLabel(const std::string &label, double x, double y) {
    svg += text(x, y, "quiet", label,
                "text-anchor=\"middle\" transform=\"rotate(-90 " + number(x) + " " + number(y) + ")\"");
  }

  void drawTicksX(double top, double bottom, bool last) {
    if (!chart.categories.empty()) {
      for (size_t i = 0; last && i < chart.categories.size(); ++i)
        svg += text(xOf(double(i)), bottom + 18, "quiet", chart.categories[i], "text-anchor=\"middle\"");
      return;
    }
    double step = xScale.ticks.size() > 1 ? xScale.ticks[1] - xScale.ticks[0] : 1;
    for (double tick : xScale.ticks) {
      if (tick < xScale.low || tick > xScale.high) continue;
      line("grid", xOf(tick), top, xOf(tick), bottom);
      std::string label = xScale.log ? tickText(tick) : tickText(tick, step);
      if (last) svg += text(xOf(tick), bottom + 18, "quiet", label, "text-anchor=\"middle\"");
    }
  }

  template <typename YOf> void drawSeries(const Series &full, const Scale &scale, double top, YOf yOf) {
    Series series = thinned(full, int(right - kLeft), xScale.low, xScale.high, xScale.log);
    int color = ((series.color % kColors) + kColors) % kColors;
    std::string path, dots, bad;
    bool open = false;
    for (size_t i = 0; i < std::min(series.x.size(), series.y.size()); ++i) {
      double x = series.x[i], value = series.y[i];
      if (!std::isfinite(x) || (xScale.log && x <= 0)) continue;
      if (!std::isfinite(value) || (scale.log && value <= 0)) {
        // A triangle under the upper edge, once for each gap.
        if (open || bad.empty())
          bad += "<path class=\"bad\" d=\"M" + number(xOf(x) - 4) + " " + number(top + 2) + "h8l-4 8z\"/>\n";
        open = false;
        continue;
      }
      path += (open ? "L" : "M") + number(xOf(x)) + " " + number(yOf(value));
      open = true;
      if (series.markers)
        dots += "<circle class=\"f" + std::to_string(color) + "\" cx=\"" + number(xOf(x)) + "\" cy=\"" +
                number(yOf(value)) + "\" r=\"3\"/>\n";
    }
    if (!path.empty())
      svg +=
          "<path class=\"line s" + std::to_string(color) + (series.faint ? " faint" : "") + "\" d=\"" + path + "\"/>\n";
    svg += dots + (series.faint ? "" : bad);
  }

  void drawLegend(const Panel &panel, double top) {
    // From the right, above the frame; about 7 units a letter.
    double x = right;
    for (size_t i = panel.series.size(); i-- > 0;) {
      const Series &series = panel.series[i];
      if (series.name.empty()) continue;
      x -= double(series.name.size()) * 7;
      svg += text(x, top - 8, "text", series.name);
      int color = ((series.color % kColors) + kColors) % kColors;
      svg += "<path class=\"line s" + std::to_string(color) + (series.faint ? " faint" : "") + "\" d=\"M" +
             number(x - 24) + " " + number(top - 12) + "h18\"/>\n";
      x -= 40;
    }
  }
};

} // namespace

std::string toSvg(const Chart &chart) { return PlotDrawing(chart).draw(); }

} // namespace sprig::plot
