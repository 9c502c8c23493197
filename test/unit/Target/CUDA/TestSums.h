// What docs/numerics.md says of sums of products whose factors are rounded to tf32, for tests of tiles.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <string>

namespace sprig {

struct TestSums {
  double exact = 0, ofRounded = 0, ofMagnitudes = 0;

  /// To the nearest with 10 bits of mantissa; of two that are as near, away from zero.
  static double toTf32(float value) {
    return std::bit_cast<float>((std::bit_cast<uint32_t>(value) + 0x1000u) & 0xffffe000u);
  }

  void add(float left, float right) {
    exact += double(left) * right;
    ofRounded += toTf32(left) * toTf32(right);
    ofMagnitudes += std::fabs(double(left) * right);
  }

  /// What is wrong with relu(sum + bias) - residual of so many steps, in words.
  std::string compare(double got, int64_t depth, double bias, double residual) const {
    auto finish = [&](double sum) { return std::fmax(sum + bias, 0) - residual; };
    return compare(got, depth, finish(exact), finish(ofRounded), std::fabs(bias) + 1);
  }
  /// With the sum itself.
  std::string compare(double got, int64_t depth) const { return compare(got, depth, exact, ofRounded, 0); }

private:
  std::string compare(double got, int64_t depth, double wantExact, double wantRounded, double beside) const {
    double additions = double(std::min<int64_t>(depth, 1024)) + double(depth) / 512;
    double after = 0x1p-23 * (ofMagnitudes + beside); // rounding behind the sum
    double bound = (0x1p-10 + 0x1p-22 + additions * 0x1p-22) * ofMagnitudes + after;
    // The emulator rounds once for eight products.
    double closer = (additions / 8 + 2) * 0x1p-23 * ofMagnitudes + after;
    std::string wrong;
    auto hold = [&](double want, double most, const char *what) {
      if (!(std::fabs(got - want) <= most)) wrong += std::to_string(got) + ", not " + std::to_string(want) + what;
    };
    hold(wantExact, bound, " of the exact sum; ");
    hold(wantRounded, closer, " of that of rounded factors; ");
    return wrong;
  }
};

} // namespace sprig
