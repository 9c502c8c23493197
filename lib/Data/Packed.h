// Elements of fewer than eight bits as files pack them: the first in the lowest bits of a byte.
// For readers of ONNX tensors, in data files and in models.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace sprig::data {

/// Bytes that `count` elements of at most eight bits take.
inline int64_t packedBytes(int64_t count, unsigned bits) {
  return count / 8 * int64_t(bits) + (count % 8 * int64_t(bits) + 7) / 8;
}

/// A byte for each of `count` elements; `packed` has packedBytes() of them. Signed ones are sign-extended.
inline std::vector<char> unpack(std::span<const char> packed, int64_t count, unsigned bits, bool isSigned) {
  std::vector<char> bytes;
  bytes.reserve(size_t(count));
  for (int64_t i = 0; i < count; ++i) {
    size_t bit = size_t(i) * bits;
    unsigned value = (static_cast<unsigned char>(packed[bit / 8]) >> (bit % 8)) & ((1u << bits) - 1);
    if (isSigned && value >> (bits - 1)) value |= ~0u << bits;
    bytes.push_back(char(value));
  }
  return bytes;
}

} // namespace sprig::data
