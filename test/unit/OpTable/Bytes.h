// Tensors of bytes in the text of rows.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sprig::optable {

/// A constant of bytes with both ends of its type among its elements.
inline std::string constantBytes(const std::vector<int64_t> &shape, const std::string &type, int64_t seed = 0) {
  int64_t count = 1, low = type[0] == 'u' ? 0 : -128;
  std::string text = "dense<\"0x", dims;
  for (int64_t size : shape) count *= size, dims += std::to_string(size) + "x";
  static const char *digits = "0123456789ABCDEF";
  for (int64_t i = 0; i < count; ++i) {
    int64_t value = i % 11 == 0 ? low : i % 7 == 0 ? low + 255 : low + (i * 73 + seed) % 256;
    text += {digits[value >> 4 & 15], digits[value & 15]};
  }
  if (count == 1) return "dense<" + std::to_string(low + seed % 256) + "> : tensor<" + dims + type + ">";
  return text + "\"> : tensor<" + dims + type + ">";
}

/// 3x4xi8.
inline std::string tensor(const std::vector<int64_t> &shape, const std::string &type) {
  std::string text;
  for (int64_t size : shape) text += std::to_string(size) + "x";
  return text + type;
}

} // namespace sprig::optable
