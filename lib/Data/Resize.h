// Images in other sizes: bilinear, and anti-aliased where they get smaller (as Pillow's BILINEAR).
// For data sets. Planes of floats, row by row.
#pragma once
#include <cstdint>
#include <vector>

namespace sprig::data {

class Resizer {
public:
  /// Sizes are at least 1.
  Resizer(int64_t height, int64_t width, int64_t newHeight, int64_t newWidth);
  /// Any thread may call it.
  void run(const float *planes, int64_t count, float *out) const;

private:
  /// What each new place along an axis takes of the old ones.
  struct Axis {
    Axis(int64_t size, int64_t newSize);
    int64_t size, newSize;
    std::vector<int64_t> first, count, offset;
    std::vector<float> weights;
  };
  Axis rows, columns;
};

} // namespace sprig::data
