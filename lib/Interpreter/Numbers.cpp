// Number conversions: bits of half types by hand, the rest by the machine.
#include "lib/Interpreter/Numbers.h"
#include "dialects/Interfaces/OpInterfaces.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace sprig::interp {
namespace {

// A small IEEE format with `mantissa` stored bits and `exponent` bits.
struct SmallFloat {
  int exponent, mantissa;
  int bias() const { return (1 << (exponent - 1)) - 1; }
  uint64_t infinity() const { return ((uint64_t(1) << exponent) - 1) << mantissa; }
};
constexpr SmallFloat kHalf{5, 10}, kBfloat{8, 7};

// `value` / 2^shift, ties to even.
uint64_t shiftRounded(uint64_t value, int shift) {
  if (shift >= 64) return 0;
  uint64_t kept = value >> shift, half = uint64_t(1) << (shift - 1), rest = value & ((half << 1) - 1);
  return kept + (rest > half || (rest == half && (kept & 1)));
}

uint16_t encodeSmall(double value, SmallFloat format) {
  uint64_t bits = std::bit_cast<uint64_t>(value);
  uint64_t sign = (bits >> 63) << (format.exponent + format.mantissa);
  uint64_t mantissa = bits & ((uint64_t(1) << 52) - 1);
  int exponent = (bits >> 52) & 0x7ff, drop = 52 - format.mantissa;
  if (exponent == 0x7ff) {
    if (mantissa == 0) return sign | format.infinity();
    return sign | format.infinity() | (uint64_t(1) << (format.mantissa - 1)) | (mantissa >> drop);
  }
  int target = exponent - 1023 + format.bias();
  uint64_t result;
  if (target >= 1) {
    // Exponent and mantissa are one number, so that a carry out of the mantissa raises the exponent.
    result = shiftRounded((uint64_t(target) << 52) | mantissa, drop);
  } else {
    if (exponent != 0) mantissa |= uint64_t(1) << 52;
    result = shiftRounded(mantissa, drop + 1 - target);
  }
  return sign | std::min(result, format.infinity());
}

double decodeSmall(uint16_t bits, SmallFloat format) {
  uint64_t magnitude = bits & ((uint64_t(1) << (format.exponent + format.mantissa)) - 1);
  int exponent = magnitude >> format.mantissa;
  uint64_t mantissa = magnitude & ((uint64_t(1) << format.mantissa) - 1);
  double result;
  if (magnitude >= format.infinity()) {
    result = mantissa ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    result = std::ldexp(double(mantissa), 1 - format.bias() - format.mantissa);
  } else {
    result =
        std::ldexp(double(mantissa | (uint64_t(1) << format.mantissa)), exponent - format.bias() - format.mantissa);
  }
  return bits >> (format.exponent + format.mantissa) ? -result : result;
}

template <typename Stored, typename T> void decodePlain(const char *bytes, int64_t count, T *out) {
  for (int64_t i = 0; i < count; ++i) {
    Stored value;
    std::memcpy(&value, bytes + i * sizeof(Stored), sizeof(Stored));
    out[i] = T(value);
  }
}

template <typename Stored, typename T> void encodePlain(const T *values, int64_t count, char *out) {
  for (int64_t i = 0; i < count; ++i) {
    Stored value = Stored(values[i]);
    std::memcpy(out + i * sizeof(Stored), &value, sizeof(Stored));
  }
}

const SmallFloat &smallFormat(mlir::Type type) { return type.isF16() ? kHalf : kBfloat; }

} // namespace

double roundTo(double value, mlir::Type type) {
  if (type.isF64()) return value;
  if (type.isF32()) return double(float(value));
  const SmallFloat &format = smallFormat(type);
  return decodeSmall(encodeSmall(value, format), format);
}

bool isUnsigned(mlir::Type type) { return type.isUnsignedInteger() || type.isInteger(1); }

int64_t wrapTo(int64_t value, mlir::Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  if (width == 64) return value;
  uint64_t low = uint64_t(value) << (64 - width);
  return isUnsigned(type) ? int64_t(low >> (64 - width)) : int64_t(low) >> (64 - width);
}

int64_t lowestOf(mlir::Type type) {
  return isUnsigned(type) ? 0 : int64_t(uint64_t(-1) << (type.getIntOrFloatBitWidth() - 1));
}

int64_t highestOf(mlir::Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  return isUnsigned(type) ? wrapTo(-1, type) : int64_t((uint64_t(1) << (width - 1)) - 1);
}

int64_t saturateTo(double value, mlir::Type type) {
  if (std::isnan(value)) return 0;
  // 2^width and its half are exact doubles; the comparison must come before the conversion.
  unsigned width = type.getIntOrFloatBitWidth();
  double end = std::ldexp(1.0, isUnsigned(type) ? width : width - 1);
  if (value >= end) return highestOf(type);
  if (isUnsigned(type)) return value <= 0 ? 0 : int64_t(uint64_t(value));
  return value < -end ? lowestOf(type) : int64_t(value);
}

double toDouble(int64_t value, mlir::Type type) { return isUnsigned(type) ? double(uint64_t(value)) : double(value); }

void decode(mlir::Type type, const char *bytes, int64_t count, double *out) {
  if (type.isF64()) return decodePlain<double>(bytes, count, out);
  if (type.isF32()) return decodePlain<float>(bytes, count, out);
  const SmallFloat &format = smallFormat(type);
  for (int64_t i = 0; i < count; ++i) {
    uint16_t bits;
    std::memcpy(&bits, bytes + 2 * i, 2);
    out[i] = decodeSmall(bits, format);
  }
}

void decode(mlir::Type type, const char *bytes, int64_t count, int64_t *out) {
  bool isU = isUnsigned(type);
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    for (int64_t i = 0; i < count; ++i) out[i] = bytes[i] != 0;
    return;
  case 8: return isU ? decodePlain<uint8_t>(bytes, count, out) : decodePlain<int8_t>(bytes, count, out);
  case 16: return isU ? decodePlain<uint16_t>(bytes, count, out) : decodePlain<int16_t>(bytes, count, out);
  case 32: return isU ? decodePlain<uint32_t>(bytes, count, out) : decodePlain<int32_t>(bytes, count, out);
  default: return decodePlain<int64_t>(bytes, count, out);
  }
}

void encode(mlir::Type type, const double *values, int64_t count, char *out) {
  if (type.isF64()) return encodePlain<double>(values, count, out);
  if (type.isF32()) return encodePlain<float>(values, count, out);
  const SmallFloat &format = smallFormat(type);
  for (int64_t i = 0; i < count; ++i) {
    uint16_t bits = encodeSmall(values[i], format);
    std::memcpy(out + 2 * i, &bits, 2);
  }
}

void encode(mlir::Type type, const int64_t *values, int64_t count, char *out) {
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    for (int64_t i = 0; i < count; ++i) out[i] = values[i] != 0;
    return;
  case 8: return encodePlain<uint8_t>(values, count, out);
  case 16: return encodePlain<uint16_t>(values, count, out);
  case 32: return encodePlain<uint32_t>(values, count, out);
  default: return encodePlain<uint64_t>(values, count, out);
  }
}

} // namespace sprig::interp
