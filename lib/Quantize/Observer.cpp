#include "lib/Quantize/Observer.h"
#include <algorithm>
#include <cmath>

namespace sprig::quantize {

void Observer::see(const float *numbers, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    float x = numbers[i];
    if (!std::isfinite(x)) {
      ++uncounted;
      continue;
    }
    if (isEmpty())
      low = high = x;
    else
      low = std::min(low, x), high = std::max(high, x);
  }
}

void Observer::countAgain(const float *numbers, int64_t count) {
  if (bins.empty()) bins.assign(kBins, 0);
  double width = (double(high) - low) / kBins;
  for (int64_t i = 0; i < count; ++i) {
    if (!std::isfinite(numbers[i])) continue;
    int bin = width > 0 ? int((double(numbers[i]) - low) / width) : 0;
    bins[size_t(std::clamp(bin, 0, kBins - 1))] += 1;
  }
}

double Observer::centre(int bin) const { return low + (double(high) - low) / kBins * (bin + 0.5); }

Range Observer::range(const CalibrationOptions &options, const QuantizerType &type) const {
  if (isEmpty()) return {};
  Range range = extremes();
  if (!bins.empty() && high > low) switch (options.method) {
    case Calibration::minmax: break;
    case Calibration::percentile: range = percentileRange(*this, options.percentile, type.symmetric); break;
    case Calibration::mse: range = leastErrorRange(*this, type); break;
    case Calibration::kl: range = leastDivergenceRange(*this, type); break;
    }
  return {std::min(range.low, 0.0f), std::max(range.high, 0.0f)};
}

} // namespace sprig::quantize
