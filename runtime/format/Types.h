// Element types and shapes as packages and messages have them.
#ifndef SPRIG_RUNTIME_FORMAT_TYPES_H
#define SPRIG_RUNTIME_FORMAT_TYPES_H

#include "sprig/rt/sprig_rt.h"

#include <cstdint>
#include <span>
#include <string>

namespace sprig::rt::core {

inline constexpr int kDTypeCount = SPRIG_RT_I1 + 1;

// Dimensions of a tensor at most; packages are checked for it, so arrays on the stack may have this size.
inline constexpr uint32_t kMaxRank = 64;

// Bytes of an element, 0 when there is no such type.
inline uint64_t dtypeSize(int dtype) {
  constexpr uint8_t sizes[kDTypeCount] = {8, 4, 2, 2, 8, 4, 2, 1, 8, 4, 2, 1, 1};
  return dtype >= 0 && dtype < kDTypeCount ? sizes[dtype] : 0;
}

inline const char *dtypeName(int dtype) {
  constexpr const char *names[kDTypeCount] = {"f64", "f32",  "f16",  "bf16", "i64", "i32", "i16",
                                              "i8",  "ui64", "ui32", "ui16", "ui8", "i1"};
  return dtype >= 0 && dtype < kDTypeCount ? names[dtype] : nullptr;
}

// 32x128xf32, as everything in Sprig prints shapes.
inline std::string shapeText(std::span<const int64_t> shape, int dtype) {
  std::string text;
  for (int64_t size : shape) text += std::to_string(size) + "x";
  const char *name = dtypeName(dtype);
  return text + (name ? std::string(name) : "dtype" + std::to_string(dtype));
}

// Bytes of a dense tensor; false when a dimension is negative or the size leaves 2^62.
inline bool tensorBytes(std::span<const int64_t> shape, int dtype, uint64_t &bytes) {
  constexpr uint64_t limit = uint64_t(1) << 62;
  uint64_t total = dtypeSize(dtype);
  bool empty = false;
  for (int64_t size : shape) {
    if (size < 0) return false;
    // A zero makes the tensor empty, whatever the others multiply to.
    if (size == 0) {
      empty = true;
      continue;
    }
    if (total > limit / uint64_t(size)) return false;
    total *= uint64_t(size);
  }
  bytes = empty ? 0 : total;
  return true;
}

} // namespace sprig::rt::core

#endif
