#include "runtime/comm/Reduction.h"
#include "runtime/comm/HalfTypes.h"
#include "runtime/format/Types.h"

#include <iterator>
#include <type_traits>

namespace sprig::rt::comm {
namespace {

template <typename T> constexpr bool isNarrow = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

// What two elements are computed in: integers without a sign, where going around is defined.
template <typename T> auto wide(T value) {
  if constexpr (isNarrow<T>)
    return float(value);
  else
    return value;
}
template <typename T, typename W> T narrow(W value) {
  if constexpr (isNarrow<T>)
    return T::of(value);
  else
    return T(value);
}

struct Sum {
  template <typename T> T operator()(T a, T b) const {
    if constexpr (std::is_integral_v<T>)
      return T(std::make_unsigned_t<T>(a) + std::make_unsigned_t<T>(b));
    else
      return a + b;
  }
};
struct Product {
  template <typename T> T operator()(T a, T b) const {
    // Small types are multiplied in 32 bits without a sign: as int they could overflow.
    if constexpr (std::is_integral_v<T>) {
      using Wide = std::conditional_t<sizeof(T) < 4, uint32_t, std::make_unsigned_t<T>>;
      return T(Wide(a) * Wide(b));
    } else
      return a * b;
  }
};
struct Min {
  template <typename T> T operator()(T a, T b) const { return a < b || a != a ? a : b; }
};
struct Max {
  template <typename T> T operator()(T a, T b) const { return a > b || a != a ? a : b; }
};

template <typename T, typename F> void combineAll(T *own, const T *received, int64_t count, F combineTwo) {
  for (int64_t i = 0; i < count; ++i) own[i] = narrow<T>(combineTwo(wide(received[i]), wide(own[i])));
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

template <typename T> void divideAs(void *own, int64_t count, int ranks) {
  T *to = static_cast<T *>(own);
  using Wide = decltype(wide(T()));
  for (int64_t i = 0; i < count; ++i) to[i] = narrow<T>(wide(to[i]) / Wide(ranks));
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
  case SPRIG_RT_F16: return combineAs<Float16>(reduction, own, received, count);
  case SPRIG_RT_BF16: return combineAs<BFloat16>(reduction, own, received, count);
  case SPRIG_RT_I64: return combineAs<int64_t>(reduction, own, received, count);
  case SPRIG_RT_I32: return combineAs<int32_t>(reduction, own, received, count);
  case SPRIG_RT_I16: return combineAs<int16_t>(reduction, own, received, count);
  case SPRIG_RT_I8: return combineAs<int8_t>(reduction, own, received, count);
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
  case SPRIG_RT_F16: return divideAs<Float16>(own, count, ranks);
  case SPRIG_RT_BF16: return divideAs<BFloat16>(own, count, ranks);
  default: return; // whyNot
  }
}

} // namespace sprig::rt::comm
