// What picks elements along an axis: a position, a range, indices, a new axis, the rest.
// For x[...] and x(..., ...) of sprig/tensor.h, and for index() and assign() of sprig/shape_ops.h.
#pragma once
#include "sprig/tensor.h"
#include <concepts>
#include <limits>

namespace sprig {

/// Every step-th element from begin up to, but without, end; negative positions count from the end, what lies outside
/// is cut off, as in Python. A negative step runs backwards (the default begin is then the last element).
struct Slice {
  static constexpr int64_t kOpen = std::numeric_limits<int64_t>::min();
  int64_t begin = kOpen, end = kOpen, step = 1;

  constexpr Slice() = default;
  constexpr explicit Slice(int64_t begin, int64_t end = kOpen, int64_t step = 1) : begin(begin), end(end), step(step) {}
};

/// All of an axis, NumPy's ':'; called, it is the reduction of that name (see sprig/reductions.h).
struct All {
  SPRIG_API Tensor operator()(const Operand &x, const Ints &axes = {}, bool keepDims = false) const;
};
inline constexpr All all;
struct NewAxis {};
/// An axis of size 1 that the operand has not: NumPy's None.
inline constexpr NewAxis newAxis;
struct Rest {};
/// As many axes as the others leave over: NumPy's '...'.
inline constexpr Rest rest;

/// One of them, and the caller's line.
class Index {
public:
  template <std::integral T>
  Index(T position, Source at = Source::here()) : kind(Kind::position), position(int64_t(position)), at(at) {}
  Index(Slice slice, Source at = Source::here()) : kind(Kind::slice), slice(slice), at(at) {}
  Index(All, Source at = Source::here()) : kind(Kind::slice), at(at) {}
  Index(NewAxis, Source at = Source::here()) : kind(Kind::newAxis), at(at) {}
  Index(Rest, Source at = Source::here()) : kind(Kind::rest), at(at) {}
  /// Elements by their positions (i64 or i32, any shape): the axis becomes the indices' shape.
  Index(const Tensor &indices, Source at = Source::here()) : kind(Kind::indices), indices(indices), at(at) {}

  enum class Kind : uint8_t { position, slice, newAxis, rest, indices };
  Kind kind;
  int64_t position = 0;
  Slice slice;
  Tensor indices;
  Source at;
};

template <typename... Others> Tensor Tensor::operator()(const Index &first, const Others &...others) const {
  const Index each[] = {first, others...};
  return pick(each, 1 + sizeof...(others));
}

} // namespace sprig
