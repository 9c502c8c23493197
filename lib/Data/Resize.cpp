#include "lib/Data/Resize.h"
#include <algorithm>
#include <cmath>

namespace sprig::data {

Resizer::Axis::Axis(int64_t size, int64_t newSize) : size(size), newSize(newSize) {
  double scale = double(size) / double(newSize), support = std::max(1.0, scale);
  for (int64_t i = 0; i < newSize; ++i) {
    double center = (double(i) + 0.5) * scale;
    int64_t begin = std::max<int64_t>(0, int64_t(std::floor(center - support + 0.5)));
    int64_t end = std::min(size, int64_t(std::floor(center + support + 0.5)));
    std::vector<double> parts;
    double sum = 0;
    for (int64_t j = begin; j < end; ++j) {
      parts.push_back(std::max(0.0, 1 - std::abs((double(j) + 0.5 - center) / support)));
      sum += parts.back();
    }
    first.push_back(begin);
    count.push_back(end - begin);
    offset.push_back(int64_t(weights.size()));
    for (double part : parts) weights.push_back(float(part / sum));
  }
}

Resizer::Resizer(int64_t height, int64_t width, int64_t newHeight, int64_t newWidth)
    : rows(height, newHeight), columns(width, newWidth) {}

void Resizer::run(const float *planes, int64_t count, float *out) const {
  std::vector<float> wide(size_t(rows.size * columns.newSize));
  for (int64_t p = 0; p < count; ++p) {
    const float *in = planes + p * rows.size * columns.size;
    for (int64_t y = 0; y < rows.size; ++y)
      for (int64_t x = 0; x < columns.newSize; ++x) {
        const float *from = in + y * columns.size + columns.first[size_t(x)];
        const float *weight = columns.weights.data() + columns.offset[size_t(x)];
        float sum = 0;
        for (int64_t k = 0; k < columns.count[size_t(x)]; ++k) sum += weight[k] * from[k];
        wide[size_t(y * columns.newSize + x)] = sum;
      }
    for (int64_t y = 0; y < rows.newSize; ++y) {
      float *to = out + (p * rows.newSize + y) * columns.newSize;
      std::fill_n(to, columns.newSize, 0.f);
      for (int64_t k = 0; k < rows.count[size_t(y)]; ++k) {
        const float *from = wide.data() + (rows.first[size_t(y)] + k) * columns.newSize;
        float weight = rows.weights[size_t(rows.offset[size_t(y)] + k)];
        for (int64_t x = 0; x < columns.newSize; ++x) to[x] += weight * from[x];
      }
    }
  }
}

} // namespace sprig::data
