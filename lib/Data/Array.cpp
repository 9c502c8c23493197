#include "lib/Data/Array.h"
#include "include/sprig/error.h"
#include "lib/Data/ArrayFile.h"
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace sprig::data {
namespace {

struct DTypeInfo {
  std::string_view name;
  int size;
  bool isFloat;
};
constexpr DTypeInfo kInfo[kDTypeCount] = {
    {"f64", 8, true},  {"f32", 4, true},  {"f16", 2, true}, {"bf16", 2, true}, {"i64", 8, false},
    {"i32", 4, false}, {"i16", 2, false}, {"i8", 1, false}, {"u64", 8, false}, {"u32", 4, false},
    {"u16", 2, false}, {"u8", 1, false},  {"i1", 1, false},
};

template <typename T> T load(const Array &array, int64_t index) {
  T value;
  std::memcpy(&value, array.bytes.data() + index * int64_t(sizeof(T)), sizeof(T));
  return value;
}

} // namespace

std::string_view name(DType type) { return kInfo[int(type)].name; }
int64_t size(DType type) { return kInfo[int(type)].size; }
bool isFloat(DType type) { return kInfo[int(type)].isFloat; }

std::optional<DType> parseDType(std::string_view text) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (kInfo[i].name == text) return DType(i);
  return std::nullopt;
}

int64_t Array::elements() const {
  int64_t count = 1;
  for (int64_t dim : shape) count *= dim;
  return count;
}

int64_t Array::integerAt(int64_t index) const {
  switch (dtype) {
  case DType::i64: return load<int64_t>(*this, index);
  case DType::i32: return load<int32_t>(*this, index);
  case DType::i16: return load<int16_t>(*this, index);
  case DType::i8: return load<int8_t>(*this, index);
  case DType::u64: return int64_t(load<uint64_t>(*this, index));
  case DType::u32: return load<uint32_t>(*this, index);
  case DType::u16: return load<uint16_t>(*this, index);
  case DType::u8: return load<uint8_t>(*this, index);
  case DType::i1: return load<uint8_t>(*this, index) != 0;
  default: return int64_t(at(index));
  }
}

double Array::at(int64_t index) const {
  switch (dtype) {
  case DType::f64: return load<double>(*this, index);
  case DType::f32: return load<float>(*this, index);
  case DType::f16: return fromHalf(load<uint16_t>(*this, index));
  case DType::bf16: return fromBFloat16(load<uint16_t>(*this, index));
  case DType::u64: return double(load<uint64_t>(*this, index));
  default: return double(integerAt(index));
  }
}

std::string describe(DType type, const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t dim : shape) text += std::to_string(dim) + "x";
  return text + std::string(name(type));
}

std::optional<int64_t> byteSize(DType type, const std::vector<int64_t> &shape) {
  int64_t bytes = size(type);
  bool empty = false;
  for (int64_t dim : shape) {
    if (dim < 0) return std::nullopt;
    if (dim == 0)
      empty = true;
    else if (__builtin_mul_overflow(bytes, dim, &bytes))
      return std::nullopt;
  }
  return empty ? 0 : bytes;
}

double fromHalf(uint16_t bits) {
  int exponent = (bits >> 10) & 31, mantissa = bits & 1023;
  double value;
  if (exponent == 31)
    value = mantissa ? std::numeric_limits<double>::quiet_NaN() : HUGE_VAL;
  else if (exponent == 0)
    value = std::ldexp(mantissa, -24);
  else
    value = std::ldexp(mantissa + 1024, exponent - 25);
  return bits & 0x8000 ? -value : value;
}

double fromBFloat16(uint16_t bits) { return std::bit_cast<float>(uint32_t(bits) << 16); }

uint16_t toHalf(double value) {
  uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return sign | 0x7e00;
  double magnitude = std::fabs(value);
  if (magnitude >= 65520) return sign | 0x7c00;
  if (magnitude < std::ldexp(1, -14)) return sign | uint16_t(std::nearbyint(std::ldexp(magnitude, 24)));
  int exponent;
  double fraction = std::frexp(magnitude, &exponent); // in [0.5, 1)
  // Rounding up to the next power of two carries into the exponent by itself.
  return sign | uint16_t(((exponent + 14) << 10) + int(std::nearbyint(std::ldexp(fraction, 11))) - 1024);
}

uint16_t toBFloat16(double value) {
  if (std::isnan(value)) return 0x7fc0;
  // Round to odd in f32 first, so that the second rounding sees on which side the value lay.
  float nearest = float(value);
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (double(nearest) != value && !std::isinf(nearest)) {
    if (std::fabs(double(nearest)) > std::fabs(value)) --bits;
    bits |= 1;
  }
  return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

void refuseNul(const std::string &name, const std::string &file) {
  if (size_t at = name.find('\0'); at != std::string::npos)
    badInput(file + ": the name of an array has a NUL after '" + name.substr(0, at) + "'");
}

} // namespace sprig::data
