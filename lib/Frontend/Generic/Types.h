// From element types to C++ types.
// For operations whose elements are plain C++ numbers; half types go another way.
#pragma once
#include "sprig/dtype.h"
#include <cmath>
#include <type_traits>

namespace sprig::frontend::generic {

/// Calls f with a value of the type of the elements and returns true; false for half types and booleans.
template <typename F> bool withNumber(DType type, F f) {
  switch (type) {
  case DType::f64: return f(double()), true;
  case DType::f32: return f(float()), true;
  case DType::i64: return f(int64_t()), true;
  case DType::i32: return f(int32_t()), true;
  case DType::i16: return f(int16_t()), true;
  case DType::i8: return f(int8_t()), true;
  case DType::u64: return f(uint64_t()), true;
  case DType::u32: return f(uint32_t()), true;
  case DType::u16: return f(uint16_t()), true;
  case DType::u8: return f(uint8_t()), true;
  default: return false;
  }
}

template <typename T> bool isNaN(T value) {
  if constexpr (std::is_floating_point_v<T>) return value != value;
  return false;
}

// Integers wrap, floats round.
template <typename T> T plus(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a + b;
  else
    return T(uint64_t(a) + uint64_t(b));
}
template <typename T> T times(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a * b;
  else
    return T(uint64_t(a) * uint64_t(b));
}
/// NaN wins, and of two zeros the positive one is the larger.
template <typename T> T larger(T a, T b) {
  if (isNaN(a)) return a;
  if (isNaN(b)) return b;
  if constexpr (std::is_floating_point_v<T>)
    if (a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}
template <typename T> T smaller(T a, T b) {
  if (isNaN(a)) return a;
  if (isNaN(b)) return b;
  if constexpr (std::is_floating_point_v<T>)
    if (a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

} // namespace sprig::frontend::generic
