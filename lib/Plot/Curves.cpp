// What is done to curves before they are drawn.
#include "lib/Plot/Chart.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace sprig::plot {

Series thinned(const Series &series, int columns, double low, double high, bool logX) {
  Series result = series;
  size_t count = std::min(series.x.size(), series.y.size());
  if (count <= size_t(columns) * 4) return result;
  result.x.clear();
  result.y.clear();
  auto columnOf = [&](double x) {
    double share = logX ? std::log(x / low) / std::log(high / low) : (x - low) / (high - low);
    return std::isfinite(share) ? int(share * columns) : 0;
  };
  size_t begin = 0;
  while (begin < count) {
    // A run of points of one column that are all finite, or all not.
    bool finite = std::isfinite(series.y[begin]);
    int column = columnOf(series.x[begin]);
    size_t end = begin, least = begin, most = begin;
    for (; end < count && std::isfinite(series.y[end]) == finite && columnOf(series.x[end]) == column; ++end) {
      if (series.y[end] < series.y[least]) least = end;
      if (series.y[end] > series.y[most]) most = end;
    }
    std::vector<size_t> kept = finite ? std::vector<size_t>{begin, least, most, end - 1} : std::vector<size_t>{begin};
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    for (size_t i : kept) {
      result.x.push_back(series.x[i]);
      result.y.push_back(series.y[i]);
    }
    begin = end;
  }
  return result;
}

std::vector<double> smoothed(const std::vector<double> &values, double share) {
  std::vector<double> result = values;
  double average = std::numeric_limits<double>::quiet_NaN();
  for (double &value : result) {
    if (!std::isfinite(value)) continue;
    average = std::isnan(average) ? value : average + share * (value - average);
    value = average;
  }
  return result;
}

bool logHelps(const std::vector<const Series *> &series) {
  std::vector<double> values;
  for (const Series *each : series)
    for (double y : each->y)
      if (std::isfinite(y)) values.push_back(y);
  if (values.size() < 3) return false;
  std::sort(values.begin(), values.end());
  if (values.front() <= 0) return false;
  // Of most values, not of one spike.
  double low = values[values.size() / 50], high = values[values.size() - 1 - values.size() / 50];
  return high / low > 20;
}

} // namespace sprig::plot
