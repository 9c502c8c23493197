// A data set whose classes can be learned: points around one centre for each class, `spread` apart from it. For tests
// of the trainer.
#pragma once
#include "sprig/data.h"
#include <cmath>

namespace sprig {

inline data::Dataset pointsOf(int64_t count, int64_t features, int64_t classes, double spread) {
  return data::Dataset(count, [=](int64_t i) {
    std::vector<float> x(static_cast<size_t>(features));
    int64_t label = i * 7 % classes;
    for (int64_t k = 0; k < features; ++k)
      x[size_t(k)] = float(std::sin(double(label * 13 + k)) + spread * std::sin(double(i * 31 + k * 17)));
    return data::Sample{data::Field(x), label};
  });
}

} // namespace sprig
