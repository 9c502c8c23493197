// Tensors as text: "[5, 7, 9]", nested brackets for more dimensions, long ones shortened.
#include "lib/Frontend/Record.h"
#include "runtime/base/Decimal.h"
#include "sprig/tensor.h"
#include <algorithm>
#include <charconv>
#include <cmath>
#include <ostream>

namespace sprig {

namespace {

constexpr int64_t kEdge = 3;    // elements that are shown at each end of a long dimension
constexpr int64_t kMost = 1000; // a tensor of more is shortened

template <typename T> std::string numberText(T number) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(number)) return "nan"; // its sign says nothing
    return decimal::general(double(number));
  } else {
    return std::to_string(number);
  }
}

std::string elementText(const Tensor &tensor, const void *data, int64_t i) {
  switch (tensor.dtype()) {
  case DType::f64: return numberText(static_cast<const double *>(data)[i]);
  case DType::f32: return numberText(static_cast<const float *>(data)[i]);
  case DType::i64: return numberText(static_cast<const int64_t *>(data)[i]);
  case DType::i32: return numberText(static_cast<const int32_t *>(data)[i]);
  case DType::i16: return numberText(static_cast<const int16_t *>(data)[i]);
  case DType::i8: return numberText(static_cast<const int8_t *>(data)[i]);
  case DType::u64: return numberText(static_cast<const uint64_t *>(data)[i]);
  case DType::u32: return numberText(static_cast<const uint32_t *>(data)[i]);
  case DType::u16: return numberText(static_cast<const uint16_t *>(data)[i]);
  case DType::u8: return numberText(static_cast<const uint8_t *>(data)[i]);
  case DType::boolean: return static_cast<const uint8_t *>(data)[i] ? "true" : "false";
  case DType::f16:
  case DType::bf16: {
    // Exact in f32; f16 by the hardware's type where the compiler has it.
    uint16_t bits = static_cast<const uint16_t *>(data)[i];
    if (tensor.dtype() == DType::bf16) {
      uint32_t wide = uint32_t(bits) << 16;
      float number;
      __builtin_memcpy(&number, &wide, 4);
      return numberText(number);
    }
    _Float16 half;
    __builtin_memcpy(&half, &bits, 2);
    return numberText(float(half));
  }
  }
  return "?";
}

void write(std::string &out, const Tensor &tensor, const void *data, int axis, int64_t first, bool isShort) {
  const Shape &shape = tensor.shape();
  if (axis == shape.rank()) {
    out += elementText(tensor, data, first);
    return;
  }
  int64_t stride = 1;
  for (int a = axis + 1; a < shape.rank(); ++a) stride *= shape[a];
  bool isLast = axis + 1 == shape.rank();
  out += "[";
  for (int64_t i = 0; i < shape[axis]; ++i) {
    if (i) out += isLast ? ", " : ",\n" + std::string(size_t(axis) + 1, ' ');
    if (isShort && shape[axis] > 2 * kEdge && i == kEdge) {
      out += isLast ? "..., " : "...,\n" + std::string(size_t(axis) + 1, ' ');
      i = shape[axis] - kEdge;
    }
    write(out, tensor, data, axis + 1, first + i * stride, isShort);
  }
  out += "]";
}

} // namespace

std::string frontend::realText(double value) {
  char text[32];
  std::string result(text, std::to_chars(text, text + sizeof text, value).ptr);
  return result.find_first_of(".en") == std::string::npos ? result + ".0" : result;
}

std::string Tensor::text(Source at) const {
  const void *data = bytes(at);
  std::string out;
  write(out, *this, data, 0, 0, numel() > kMost);
  return out;
}

std::ostream &operator<<(std::ostream &out, const Printed &printed) { return out << printed.tensor.text(printed.at); }

} // namespace sprig
