// A rank's piece of an array, as programs state it: the shape of the whole, then where the piece begins in each
// dimension. For all who verify one, since the numbers come from files and texts.
#ifndef SPRIG_RUNTIME_COLLECTIVE_PIECE_H
#define SPRIG_RUNTIME_COLLECTIVE_PIECE_H

#include <cstddef>
#include <cstdint>
#include <span>

namespace sprig::rt::collective {

// The first dimension in which a piece of this shape does not lie in its whole, -1: it lies in it. `numbers` are two
// for each dimension, and any.
inline int dimOutside(std::span<const int64_t> shape, std::span<const int64_t> numbers) {
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    int64_t size = shape[dim], whole = numbers[dim], first = numbers[shape.size() + dim];
    if (size < 0 || first < 0 || whole < size || first > whole - size) return int(dim);
  }
  return -1;
}

// Whether a whole has at most 2^48 elements, as every tensor; its dimensions are not negative.
inline bool isCountable(std::span<const int64_t> whole) {
  constexpr int64_t most = int64_t(1) << 48;
  int64_t elements = 1;
  for (int64_t size : whole)
    if (size == 0) return true;
  for (int64_t size : whole) {
    if (size > most / elements) return false;
    elements *= size;
  }
  return true;
}

} // namespace sprig::rt::collective

#endif
