#include "tools/sprig/quantize/Losses.h"
#include <cmath>

namespace sprig::cli {

bool ClassCount::fits(const data::Array &output, int64_t samples) {
  return data::isFloat(output.dtype) && output.shape.size() == 2 && output.shape[0] == samples && output.shape[1] > 1;
}

static int64_t largestOf(const data::Array &array, int64_t row) {
  int64_t columns = array.shape[1], best = 0;
  for (int64_t i = 0; i < columns; ++i) {
    if (std::isnan(array.at(row * columns + i))) return -1;
    if (array.at(row * columns + i) > array.at(row * columns + best)) best = i;
  }
  return best;
}

void ClassCount::add(const data::Array &reference, const data::Array &other, const std::vector<int64_t> &labels) {
  for (int64_t row = 0; row < reference.shape[0]; ++row) {
    int64_t a = largestOf(reference, row), b = other.shape == reference.shape ? largestOf(other, row) : -1;
    ++samples;
    classed += a >= 0;
    same += a >= 0 && a == b;
    if (labels.empty()) continue;
    ++labelled;
    before += a == labels[size_t(row)];
    after += b == labels[size_t(row)];
  }
}

std::optional<ClassLoss> ClassCount::result() const {
  if (classed == 0) return std::nullopt;
  ClassLoss loss{{}, {}, double(same) / double(classed)};
  if (labelled == samples) {
    loss.before = double(before) / double(samples);
    loss.after = double(after) / double(samples);
  }
  return loss;
}

} // namespace sprig::cli
