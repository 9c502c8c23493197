// Ranges of tensors from the numbers that they have on calibration data.
// For quantisation. First all numbers are seen for their extremes, then, where the method needs it, again for how often
// they occur; results do not depend on how the numbers were divided into calls. What is not finite is not counted.
#pragma once
#include "lib/Quantize/Quantizer.h"
#include <cstdint>
#include <vector>

namespace sprig::quantize {

enum class Calibration { minmax, percentile, mse, kl };

struct CalibrationOptions {
  Calibration method = Calibration::minmax;
  double percentile = 99.999; ///< of the numbers, how many are in the range
};

class Observer {
public:
  static constexpr int kBins = 2048;

  void see(const float *numbers, int64_t count);
  /// When all were seen.
  void countAgain(const float *numbers, int64_t count);
  /// As the method finds it for this type of quantiser; 0 is always in it.
  Range range(const CalibrationOptions &options, const QuantizerType &type) const;
  Range extremes() const { return {low, high}; }
  bool isEmpty() const { return low > high; }
  /// Numbers that are not finite.
  int64_t notFinite() const { return uncounted; }

  /// How often numbers are in each of the equal parts from the lowest to the highest.
  const std::vector<double> &histogram() const { return bins; }
  double centre(int bin) const;

private:
  float low = 1, high = 0; ///< none yet
  int64_t uncounted = 0;
  std::vector<double> bins;
};

// The methods (Thresholds.cpp), of an observer that has counted.
Range percentileRange(const Observer &observer, double percentile, bool symmetric);
/// The least squared error of quantised numbers, over ranges that shrink towards 0 from either end.
Range leastErrorRange(const Observer &observer, const QuantizerType &type);
/// The least Kullback-Leibler divergence of the distribution after quantisation from that before (Migacz 2017).
Range leastDivergenceRange(const Observer &observer, const QuantizerType &type);

} // namespace sprig::quantize
