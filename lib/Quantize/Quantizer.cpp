#include "lib/Quantize/Quantizer.h"
#include <algorithm>
#include <cmath>
#include <limits>

namespace sprig::quantize {

Quantizer quantizerOf(Range range, const QuantizerType &type) {
  double low = std::min(range.low, 0.0f), high = std::max(range.high, 0.0f);
  Quantizer result;
  if (type.symmetric) {
    double most = std::max(-low, high);
    result.scale = float(most / 127);
    result.zero = type.isSigned ? 0 : 128;
  } else {
    result.scale = float((high - low) / (type.most() - type.least()));
    if (result.scale > 0)
      result.zero =
          int(std::clamp(std::nearbyint(type.least() - low / result.scale), double(type.least()), double(type.most())));
  }
  // A tensor of zeros, or of denormals: any scale serves.
  if (!(result.scale >= std::numeric_limits<float>::min())) result = {1, type.symmetric ? result.zero : type.least()};
  return result;
}

/// Slices along the axis: how many, and to which an element belongs.
struct Slices {
  Slices(const std::vector<int64_t> &shape, int axis) {
    if (axis < 0) return;
    count = size_t(shape[size_t(axis)]);
    for (size_t i = size_t(axis) + 1; i < shape.size(); ++i) inner *= size_t(shape[i]);
  }
  size_t of(size_t element) const { return element / inner % count; }
  size_t count = 1, inner = 1;
};

QuantizedWeight quantizeWeight(const std::vector<int64_t> &shape, const std::vector<float> &values, int axis,
                               const std::vector<float> &least, int integerMost) {
  Slices slices(shape, axis);
  QuantizedWeight result{std::vector<int8_t>(values.size()), std::vector<float>(slices.count)};
  for (size_t i = 0; i < values.size(); ++i) {
    float &most = result.scales[slices.of(i)];
    most = std::max(most, std::abs(values[i]));
  }
  for (size_t c = 0; c < slices.count; ++c) {
    float &scale = result.scales[c];
    scale /= float(integerMost);
    if (!least.empty()) scale = std::max(scale, least[c]);
    if (!(scale >= std::numeric_limits<float>::min())) scale = 1; // zeros alone
  }
  for (size_t i = 0; i < values.size(); ++i)
    result.values[i] = int8_t(
        std::clamp(std::nearbyint(values[i] / result.scales[slices.of(i)]), -float(integerMost), float(integerMost)));
  return result;
}

std::vector<float> dequantize(const std::vector<int64_t> &shape, const QuantizedWeight &weight, int axis) {
  Slices slices(shape, axis);
  std::vector<float> result(weight.values.size());
  for (size_t i = 0; i < result.size(); ++i) result[i] = float(weight.values[i]) * weight.scales[slices.of(i)];
  return result;
}

} // namespace sprig::quantize
