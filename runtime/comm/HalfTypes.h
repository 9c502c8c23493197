// f16 and bf16 to f32 and back, by their bits: rounded to nearest, ties to even; NaNs stay NaNs, quiet ones.
// Processors below x86-64-v3 have no instructions for either, and the compiler's own functions are in a library that
// the runtime does not link.
#ifndef SPRIG_RUNTIME_COMM_HALFTYPES_H
#define SPRIG_RUNTIME_COMM_HALFTYPES_H

#include <bit>
#include <cstdint>

namespace sprig::rt::comm {

struct BFloat16 {
  uint16_t bits;
  operator float() const { return std::bit_cast<float>(uint32_t(bits) << 16); }
  static BFloat16 of(float value) {
    uint32_t word = std::bit_cast<uint32_t>(value);
    if ((word & 0x7fffffff) > 0x7f800000) return {uint16_t(word >> 16 | 0x40)};
    return {uint16_t((word + 0x7fff + (word >> 16 & 1)) >> 16)};
  }
};

struct Float16 {
  uint16_t bits;
  operator float() const {
    uint32_t sign = uint32_t(bits & 0x8000) << 16, magnitude = bits & 0x7fff;
    if (magnitude >= 0x7c00) return std::bit_cast<float>(sign | 0x7f800000 | (magnitude & 0x3ff) << 13);
    // The exponent's bias differs by 112; denormals become normal by the multiplication.
    float scaled = std::bit_cast<float>(magnitude << 13) * 0x1p112f;
    return std::bit_cast<float>(std::bit_cast<uint32_t>(scaled) | sign);
  }
  static Float16 of(float value) {
    uint32_t word = std::bit_cast<uint32_t>(value), magnitude = word & 0x7fffffff;
    uint16_t sign = uint16_t(word >> 16 & 0x8000);
    if (magnitude > 0x7f800000) return {uint16_t(sign | 0x7e00 | (magnitude >> 13 & 0x3ff))};
    if (magnitude >= 0x477ff000) return {uint16_t(sign | 0x7c00)}; // 65520 and more
    if (magnitude < 0x38800000) {
      // Denormal: adding 0.5 puts the unit of the last place, 2^-24, at the last bit of the sum, which rounds there.
      float sum = std::bit_cast<float>(magnitude) + 0.5f;
      return {uint16_t(sign | (std::bit_cast<uint32_t>(sum) - 0x3f000000))};
    }
    return {uint16_t(sign | (magnitude - 0x38000000 + 0xfff + (magnitude >> 13 & 1)) >> 13)};
  }
};

} // namespace sprig::rt::comm

#endif
