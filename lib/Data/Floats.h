// The elements of arrays of floats, whatever their type.
#pragma once
#include "lib/Data/Array.h"

namespace sprig::data {

/// Calls f(i, element) for each of `count` elements, a double; for none where the type is not of floats.
template <typename F> void eachFloat(DType type, const void *elements, int64_t count, F f) {
  auto loop = [&](const auto *values, auto toDouble) {
    for (int64_t i = 0; i < count; ++i) f(i, double(toDouble(values[i])));
  };
  switch (type) {
  case DType::f64: return loop(static_cast<const double *>(elements), [](double value) { return value; });
  case DType::f32: return loop(static_cast<const float *>(elements), [](float value) { return value; });
  case DType::f16: return loop(static_cast<const uint16_t *>(elements), fromHalf);
  case DType::bf16: return loop(static_cast<const uint16_t *>(elements), fromBFloat16);
  default: return;
  }
}

} // namespace sprig::data
