// Element types and shapes of tensors.
// For every header of the imperative front-end; no dependency but the standard library.
#pragma once
#include "sprig/api.h"
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <vector>

namespace sprig {

/// Element types, in the order of the package format and of sprig_rt_dtype. `boolean` takes one byte an element.
enum class DType : uint8_t { f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, boolean };

/// "f32", "u8", "i1": the names that shapes print with.
SPRIG_API const char *name(DType type);
/// Prints the name.
SPRIG_API std::ostream &operator<<(std::ostream &out, DType type);
/// Bytes of an element.
SPRIG_API int64_t size(DType type);
constexpr bool isFloat(DType type) { return type <= DType::bf16; }
constexpr bool isUnsigned(DType type) { return type >= DType::u64 && type <= DType::u8; }

/// The type that a C++ number has as an element.
template <typename T> struct DTypeFor;
#define SPRIG_DTYPE(type, value)                                                                                       \
  template <> struct DTypeFor<type> {                                                                                  \
    static constexpr DType dtype = DType::value;                                                                       \
  };
SPRIG_DTYPE(double, f64)
SPRIG_DTYPE(float, f32)
SPRIG_DTYPE(int64_t, i64)
SPRIG_DTYPE(int32_t, i32)
SPRIG_DTYPE(int16_t, i16)
SPRIG_DTYPE(int8_t, i8)
SPRIG_DTYPE(uint64_t, u64)
SPRIG_DTYPE(uint32_t, u32)
SPRIG_DTYPE(uint16_t, u16)
SPRIG_DTYPE(uint8_t, u8)
SPRIG_DTYPE(bool, boolean)
static_assert(sizeof(long) == 8, "int64_t is long, so that long long has a row of its own");
SPRIG_DTYPE(long long, i64)
SPRIG_DTYPE(unsigned long long, u64)
#undef SPRIG_DTYPE

/// Sizes of dimensions, or positions and steps along them: at most eight numbers, without an allocation.
class Shape {
public:
  static constexpr int kMaxRank = 8;

  Shape() = default;
  Shape(std::initializer_list<int64_t> values) : Shape(values.begin(), values.size()) {}
  Shape(const std::vector<int64_t> &values) : Shape(values.data(), values.size()) {}
  Shape(std::span<const int64_t> values) : Shape(values.data(), values.size()) {}
  Shape(const int64_t *values, size_t count) {
    if (count > kMaxRank) refuseRank(count);
    for (; number < int(count); ++number) numbers[number] = values[number];
  }

  int rank() const { return number; }
  size_t size() const { return size_t(number); }
  bool empty() const { return number == 0; }
  int64_t operator[](int axis) const { return numbers[axis]; }
  int64_t &operator[](int axis) { return numbers[axis]; }
  int64_t back() const { return numbers[number - 1]; }
  const int64_t *data() const { return numbers; }
  const int64_t *begin() const { return numbers; }
  const int64_t *end() const { return numbers + number; }
  /// Throws sprig::Error beyond eight.
  void push_back(int64_t value) {
    if (number == kMaxRank) refuseRank(kMaxRank + 1);
    numbers[number++] = value;
  }
  /// The product; 1 for a scalar.
  int64_t elements() const {
    int64_t product = 1;
    for (int64_t n : *this) product *= n;
    return product;
  }
  std::vector<int64_t> vector() const { return {begin(), end()}; }

  friend bool operator==(const Shape &a, const Shape &b) {
    if (a.number != b.number) return false;
    for (int i = 0; i < a.number; ++i)
      if (a.numbers[i] != b.numbers[i]) return false;
    return true;
  }
  /// Prints "[32, 128]".
  SPRIG_API friend std::ostream &operator<<(std::ostream &out, const Shape &shape);

private:
  [[noreturn]] SPRIG_API static void refuseRank(size_t count);
  int64_t numbers[kMaxRank] = {};
  int32_t number = 0;
};

/// One number or several, where an operation takes either: sum(x, 1), sum(x, {0, 2}), a window of 3 or of {3, 5}.
/// None where it says what none means.
class Ints : public Shape {
public:
  using Shape::Shape;
  Ints(const Shape &values) : Shape(values) {}
  Ints(int value) : Shape({int64_t(value)}) {}
  Ints(int64_t value) : Shape({value}) {}
};

struct TensorType {
  DType dtype = DType::f32;
  Shape shape;
  int64_t elements() const { return shape.elements(); }
  int64_t bytes() const { return elements() * size(dtype); }
  friend bool operator==(const TensorType &, const TensorType &) = default;
  /// Prints "32x128xf32".
  SPRIG_API friend std::ostream &operator<<(std::ostream &out, const TensorType &type);
};

/// "32x128xf32"; a scalar is "f32".
SPRIG_API std::string describe(const TensorType &type);
/// "[32, 128]"
SPRIG_API std::string describe(const Shape &shape);

} // namespace sprig
