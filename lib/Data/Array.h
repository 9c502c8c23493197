// An array in memory as files hold it: element type, shape, row-major little-endian bytes.
// For the command line and tests, which read inputs and write results. A boolean takes one byte.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace sprig::data {

/// Element types, in the order of the package format's DType.
enum class DType : uint8_t { f64, f32, f16, bf16, i64, i32, i16, i8, u64, u32, u16, u8, i1 };
inline constexpr int kDTypeCount = 13;

/// "f32", "u8", "i1": the names that shapes print with.
std::string_view name(DType type);
std::optional<DType> parseDType(std::string_view name);
/// Bytes of an element.
int64_t size(DType type);
bool isFloat(DType type);

struct Array {
  std::string name;
  DType dtype = DType::f32;
  std::vector<int64_t> shape;
  std::vector<char> bytes;

  int64_t elements() const;
  /// The element at a flat index as a double; 64-bit integers above 2^53 round.
  double at(int64_t index) const;
  /// The element at a flat index of an integer or boolean array, exactly; u64 wraps.
  int64_t integerAt(int64_t index) const;
};

/// "32x128xf32"; a scalar is "f32".
std::string describe(DType type, const std::vector<int64_t> &shape);
inline std::string describe(const Array &array) { return describe(array.dtype, array.shape); }

/// The product of the dimensions times the element size, or nothing when a dimension is negative or it overflows.
std::optional<int64_t> byteSize(DType type, const std::vector<int64_t> &shape);

double fromHalf(uint16_t bits);
double fromBFloat16(uint16_t bits);
/// Nearest, halves to even.
uint16_t toHalf(double value);
uint16_t toBFloat16(double value);

} // namespace sprig::data
