#include "runtime/comm/Reduction.h"
#include "runtime/comm/HalfTypes.h"
#include "runtime/format/Types.h"

#include <algorithm>
#include <type_traits>

namespace sprig::rt::comm {
namespace {

// Sums and products are of floats and of integers without a sign, where going around is defined.
struct Sum {
  template <typename T> T operator()(T a, T b) const { return T(a + b); }
};
struct Product {
  template <typename T> T operator()(T a, T b) const {
    // Small types are multiplied in 32 bits without a sign: as int they could overflow.
    using Wide = std::conditional_t<sizeof(T) < 4, uint32_t, T>;
    return T(Wide(a) * Wide(b));
  }
};
struct Min {
  template <typename T> T operator()(T a, T b) const { return a < b || a != a ? a : b; }
};
struct Max {
  template <typename T> T operator()(T a, T b) const { return a > b || a != a ? a : b; }
};

// Two arrays of one length, which share no bytes: loops over them are vectors.
template <typename T, typename F>
void combineAll(T *__restrict own, const T *__restrict received, int64_t count, F combineTwo) {
  for (int64_t i = 0; i < count; ++i) own[i] = combineTwo(received[i], own[i]);
}

template <typename T> void combineAs(Reduction reduction, void *own, const void *received, int64_t count) {
  T *to = static_cast<T *>(own);
  const T *from = static_cast<const T *>(received);
  switch (reduction) {
  case Reduction::sum:
  case Reduction::mean: return combineAll(to, from, count, Sum());
  case Reduction::product: return combineAll(to, from, count, Product());
  case Reduction::min: return combineAll(to, from, count, Min());
  case Reduction::max: return combineAll(to, from, count, Max());
  }
}

// Integers with a sign: sums and products are those of integers without one.
template <typename T> void combineSigned(Reduction reduction, void *own, const void *received, int64_t count) {
  switch (reduction) {
  case Reduction::min: return combineAll(static_cast<T *>(own), static_cast<const T *>(received), count, Min());
  case Reduction::max: return combineAll(static_cast<T *>(own), static_cast<const T *>(received), count, Max());
  default: return combineAs<std::make_unsigned_t<T>>(reduction, own, received, count);
  }
}

// Small floats are computed with as f32 and rounded after each step: some at a time, which stay in the nearest cache.
constexpr int64_t kWidened = 512;
template <typename T> void widen(const T *__restrict from, float *__restrict to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = float(from[i]);
}
template <typename T> void narrow(const float *__restrict from, T *__restrict to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) to[i] = T::of(from[i]);
}
template <typename T> void combineNarrow(Reduction reduction, void *own, const void *received, int64_t count) {
  float to[kWidened], from[kWidened];
  for (int64_t i = 0; i < count; i += kWidened) {
    const int64_t some = std::min(kWidened, count - i);
    T *narrowed = static_cast<T *>(own) + i;
    widen(narrowed, to, some);
    widen(static_cast<const T *>(received) + i, from, some);
    combine(SPRIG_RT_F32, reduction, to, from, some);
    narrow(to, narrowed, some);
  }
}

template <typename T> void divideAs(void *own, int64_t count, int ranks) {
  T *to = static_cast<T *>(own);
  for (int64_t i = 0; i < count; ++i) to[i] /= T(ranks);
}
template <typename T> void divideNarrow(void *own, int64_t count, int ranks) {
  float to[kWidened];
  for (int64_t i = 0; i < count; i += kWidened) {
    const int64_t some = std::min(kWidened, count - i);
    widen(static_cast<T *>(own) + i, to, some);
    divideAs<float>(to, some, ranks);
    narrow(to, static_cast<T *>(own) + i, some);
  }
}

} // namespace

std::string_view nameOf(Reduction reduction) {
  constexpr std::string_view names[] = {"sum", "mean", "product", "min", "max"};
  return names[size_t(reduction)];
}

std::string whyNot(sprig_rt_dtype dtype, Reduction reduction) {
  if (reduction == Reduction::mean && dtype > SPRIG_RT_BF16)
    return std::string("a mean is of floating-point elements, found ") + core::dtypeName(dtype);
  if (reduction == Reduction::sum && dtype == SPRIG_RT_I1) return "i1 has no sum; max is 'or', min is 'and'";
  return "";
}

void combine(sprig_rt_dtype dtype, Reduction reduction, void *own, const void *received, int64_t count) {
  switch (dtype) {
  case SPRIG_RT_F64: return combineAs<double>(reduction, own, received, count);
  case SPRIG_RT_F32: return combineAs<float>(reduction, own, received, count);
  case SPRIG_RT_F16: return combineNarrow<Float16>(reduction, own, received, count);
  case SPRIG_RT_BF16: return combineNarrow<BFloat16>(reduction, own, received, count);
  case SPRIG_RT_I64: return combineSigned<int64_t>(reduction, own, received, count);
  case SPRIG_RT_I32: return combineSigned<int32_t>(reduction, own, received, count);
  case SPRIG_RT_I16: return combineSigned<int16_t>(reduction, own, received, count);
  case SPRIG_RT_I8: return combineSigned<int8_t>(reduction, own, received, count);
  case SPRIG_RT_U64: return combineAs<uint64_t>(reduction, own, received, count);
  case SPRIG_RT_U32: return combineAs<uint32_t>(reduction, own, received, count);
  case SPRIG_RT_U16: return combineAs<uint16_t>(reduction, own, received, count);
  case SPRIG_RT_U8:
  case SPRIG_RT_I1: return combineAs<uint8_t>(reduction, own, received, count);
  }
}

void divide(sprig_rt_dtype dtype, void *own, int64_t count, int ranks) {
  switch (dtype) {
  case SPRIG_RT_F64: return divideAs<double>(own, count, ranks);
  case SPRIG_RT_F32: return divideAs<float>(own, count, ranks);
  case SPRIG_RT_F16: return divideNarrow<Float16>(own, count, ranks);
  case SPRIG_RT_BF16: return divideNarrow<BFloat16>(own, count, ranks);
  default: return; // whyNot
  }
}

} // namespace sprig::rt::comm
