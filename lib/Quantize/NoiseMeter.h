// Signal over noise in dB: power of a reference over that of what other numbers differ by.
// For quantisation and for comparisons of the command line.
#pragma once
#include <cmath>
#include <limits>

namespace sprig::quantize {

/// 10 log10(sum of reference^2 / sum of (reference - other)^2). Equal numbers have infinity.
class NoiseMeter {
public:
  void add(double reference, double other) {
    long double a = reference, b = other;
    signal += a * a;
    noise += (a - b) * (a - b);
  }
  double decibels() const {
    return noise == 0 ? std::numeric_limits<double>::infinity() : double(10 * std::log10(signal / noise));
  }

private:
  long double signal = 0, noise = 0; // squares of any double have room
};

} // namespace sprig::quantize
