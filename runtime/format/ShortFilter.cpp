#include "runtime/format/ShortFilter.h"

#include <algorithm>
#include <vector>

namespace sprig::rt::format {

namespace {
// One panel's columns of a filter in double precision: [rows][panel], a row apart by `step` rows of a larger array.
struct Rows {
  double *first;
  uint64_t step, panel;
  double *at(uint64_t row) const { return first + row * step * panel; }
};
} // namespace

// result[i] = sum over k of matrix[i][k] * source[k], in ascending k. Compiled without contraction (CMakeLists.txt), so
// that every processor gives the same bits.
static void multiply(std::span<const double> matrix, uint64_t rows, uint64_t depth, Rows source, Rows result) {
  for (uint64_t i = 0; i < rows; ++i) {
    double *sums = result.at(i);
    std::fill(sums, sums + result.panel, 0.0);
    for (uint64_t k = 0; k < depth; ++k) {
      double factor = matrix[i * depth + k];
      if (factor == 0) continue;
      const double *from = source.at(k);
      for (uint64_t j = 0; j < result.panel; ++j) sums[j] += factor * from[j];
    }
  }
}

void transformFilter(const ShortFilter &filter, const float *from, float *to) {
  const auto &[outputs, channels, height, width, lines, columns, panel, down, across] = filter;
  uint64_t taps = height * width;
  std::vector<double> values(taps * panel), half(lines * width * panel), full(lines * columns * panel);
  for (uint64_t first = 0; first < outputs; first += panel, to += lines * columns * channels * panel)
    for (uint64_t channel = 0; channel < channels; ++channel) {
      std::fill(values.begin(), values.end(), 0.0);
      for (uint64_t j = 0; j < std::min(panel, outputs - first); ++j) {
        const float *of = from + ((first + j) * channels + channel) * taps;
        for (uint64_t tap = 0; tap < taps; ++tap) values[tap * panel + j] = of[tap];
      }
      for (uint64_t x = 0; x < width; ++x)
        multiply(down, lines, height, {values.data() + x * panel, width, panel},
                 {half.data() + x * panel, width, panel});
      for (uint64_t i = 0; i < lines; ++i)
        multiply(across, columns, width, {half.data() + i * width * panel, 1, panel},
                 {full.data() + i * columns * panel, 1, panel});
      for (uint64_t f = 0; f < lines * columns; ++f)
        for (uint64_t j = 0; j < panel; ++j)
          to[(f * channels + channel) * panel + j] = static_cast<float>(full[f * panel + j]);
    }
}

} // namespace sprig::rt::format
