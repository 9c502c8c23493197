// nn.scatter_elements and nn.scatter_nd: a copy of the operand, then the updates in ascending order.
#include "lib/Frontend/Generic/Indices.h"
#include "lib/Frontend/Generic/Types.h"
#include <cstring>

namespace sprig::frontend::generic {

namespace {
/// Combines `count` updates with what lies at a place.
template <typename T> using Combine = void (*)(T *to, const T *updates, int64_t count);

template <typename T> Combine<T> combineOf(std::string_view kind) {
  if (kind == "none")
    return [](T *to, const T *updates, int64_t count) { std::memcpy(to, updates, count * sizeof(T)); };
  if (kind == "add")
    return [](T *to, const T *updates, int64_t count) {
      for (int64_t i = 0; i < count; ++i) to[i] = plus(to[i], updates[i]);
    };
  if (kind == "mul")
    return [](T *to, const T *updates, int64_t count) {
      for (int64_t i = 0; i < count; ++i) to[i] = times(to[i], updates[i]);
    };
  if (kind == "max")
    return [](T *to, const T *updates, int64_t count) {
      for (int64_t i = 0; i < count; ++i) to[i] = larger(to[i], updates[i]);
    };
  if (kind == "min")
    return [](T *to, const T *updates, int64_t count) {
      for (int64_t i = 0; i < count; ++i) to[i] = smaller(to[i], updates[i]);
    };
  return nullptr;
}

template <typename T> bool scatterElements(const Call &call, Combine<T> combine) {
  if (!combine) return false;
  std::memcpy(call.out(), call.in(), call.resultType().bytes());
  T *to = reinterpret_cast<T *>(call.out());
  const T *updates = reinterpret_cast<const T *>(call.in(2));
  forIndicesAlongAxis(call, [&](int64_t i, int64_t place) { combine(to + place, updates + i, 1); });
  return true;
}

template <typename T> bool scatterSlices(const Call &call, Combine<T> combine) {
  if (!combine) return false;
  std::memcpy(call.out(), call.in(), call.resultType().bytes());
  const Shape &shape = call.shape(), &sizes = call.shape(1);
  int depth = int(sizes.back());
  int64_t tuples = 1, slice = 1;
  for (int d = 0; d + 1 < sizes.rank(); ++d) tuples *= sizes[d];
  for (int d = depth; d < shape.rank(); ++d) slice *= shape[d];
  Indices indices(call, 1);
  T *to = reinterpret_cast<T *>(call.out());
  const T *updates = reinterpret_cast<const T *>(call.in(2));
  for (int64_t t = 0; t < tuples; ++t) {
    int64_t place = 0;
    for (int d = 0; d < depth; ++d) place = place * shape[d] + indices.at(t * depth + d, shape[d]);
    if (call.resultType().elements()) combine(to + place * slice, updates + t * slice, slice);
  }
  return true;
}

/// Calls f with the elements' type and what combines them; where updates only replace, any type of the same width does.
template <typename F> bool withCombine(const Call &call, F f) {
  std::string_view kind = call.word("kind");
  DType type = call.type().dtype;
  bool done = false;
  auto run = [&](auto number) {
    using T = decltype(number);
    done = f(combineOf<T>(kind));
  };
  if (kind == "none" && isHalf(type)) type = DType::u16;
  if (kind == "none" && type == DType::boolean) type = DType::u8;
  return withNumber(type, run) && done;
}
} // namespace

bool runScatterElements(const Call &call, int) {
  return withCombine(
      call, [&]<typename T>(void (*combine)(T *, const T *, int64_t)) { return scatterElements<T>(call, combine); });
}

bool runScatterNd(const Call &call, int) {
  return withCombine(
      call, [&]<typename T>(void (*combine)(T *, const T *, int64_t)) { return scatterSlices<T>(call, combine); });
}

} // namespace sprig::frontend::generic
