// A quantiser's numbers: scale, zero point and the integers that it gives.
// For quantisation. Zero is always represented exactly.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sprig::quantize {

struct Range {
  float low = 0, high = 0;
};

/// Of activations.
struct QuantizerType {
  bool isSigned = false;  ///< i8, else u8
  bool symmetric = false; ///< the same range on both sides of 0, whose integer is then 0 or 128
  int least() const { return isSigned ? -128 : 0; }
  int most() const { return isSigned ? 127 : 255; }
};

struct Quantizer {
  float scale = 1;
  int zero = 0;
};

/// The quantiser whose integers cover a range, which is widened to have 0 in it.
Quantizer quantizerOf(Range range, const QuantizerType &type);

/// Weights as integers of -127 to 127, or of -most to most, a scale for each slice along `axis` (-1: one for all).
struct QuantizedWeight {
  std::vector<int8_t> values;
  std::vector<float> scales;
};
/// `least`: how large each scale is at least; empty: nothing is asked of them.
QuantizedWeight quantizeWeight(const std::vector<int64_t> &shape, const std::vector<float> &values, int axis,
                               const std::vector<float> &least, int most = 127);
/// The most of integers of so many bits, the same on both sides of 0.
inline int mostOf(int bits) { return (1 << (bits - 1)) - 1; }
/// The numbers that they stand for.
std::vector<float> dequantize(const std::vector<int64_t> &shape, const QuantizedWeight &weight, int axis);

} // namespace sprig::quantize
