// Samples into batches: a copy where types agree, else one loop for each pair of types.
#include "include/sprig/error.h"
#include "lib/Data/Samples.h"
#include <cstring>
#include <type_traits>
#include <utility>

namespace sprig::data {
namespace {

// f16 and bf16 as their bits, told apart from u16.
struct Half {
  uint16_t bits;
};
struct BFloat {
  uint16_t bits;
};
struct Bool {
  uint8_t value;
};

template <typename Run> void withType(DType type, Run run) {
  switch (type) {
  case DType::f64: return run(double());
  case DType::f32: return run(float());
  case DType::f16: return run(Half());
  case DType::bf16: return run(BFloat());
  case DType::i64: return run(int64_t());
  case DType::i32: return run(int32_t());
  case DType::i16: return run(int16_t());
  case DType::i8: return run(int8_t());
  case DType::u64: return run(uint64_t());
  case DType::u32: return run(uint32_t());
  case DType::u16: return run(uint16_t());
  case DType::u8: return run(uint8_t());
  case DType::i1: return run(Bool());
  }
}

double widen(Half value) { return fromHalf(value.bits); }
double widen(BFloat value) { return fromBFloat16(value.bits); }
int64_t widen(Bool value) { return value.value != 0; }
template <typename T> T widen(T value) { return value; }

template <typename To, typename From> To narrow(From value) {
  if constexpr (std::is_same_v<To, Half>)
    return {toHalf(double(value))};
  else if constexpr (std::is_same_v<To, BFloat>)
    return {toBFloat16(double(value))};
  else if constexpr (std::is_same_v<To, Bool>)
    return {uint8_t(value != 0)};
  else
    return To(value);
}

template <typename To, typename From> constexpr bool holds(From value) {
  if constexpr (std::is_integral_v<To> && std::is_integral_v<From>)
    return std::in_range<To>(value);
  else if constexpr (std::is_same_v<To, Bool> && std::is_integral_v<From>)
    return value == 0 || value == 1;
  else
    return true;
}

// Elements of a file lie where they lie: loaded by memcpy, as no alignment is known.
template <typename T> T loadElement(const char *from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <typename From, typename To>
void convert(const char *from, To *to, int64_t count, bool scale, const Samples &samples, int64_t sample) {
  if constexpr (std::is_same_v<From, uint8_t> && std::is_floating_point_v<To>) {
    if (scale) {
      for (int64_t i = 0; i < count; ++i) to[i] = To(uint8_t(from[i])) / To(255);
      return;
    }
  }
  bool fits = true;
  for (int64_t i = 0; i < count; ++i) {
    auto value = widen(loadElement<From>(from + i * int64_t(sizeof(From))));
    if constexpr (std::is_same_v<From, uint8_t>)
      if (scale) {
        to[i] = narrow<To>(value / 255.0);
        continue;
      }
    fits &= holds<To>(value);
    to[i] = narrow<To>(value);
  }
  if (!fits)
    badInput(samples.name() + ": sample " + std::to_string(sample) + " (from 0) holds a " +
             std::string(name(samples.dtype())) + " beyond the type that the model takes");
}

} // namespace

void gather(const Samples &samples, std::span<const int64_t> indices, const Intake &intake, void *out) {
  int64_t elements = samples.sampleElements(), from = elements * size(samples.dtype());
  char *to = static_cast<char *>(out);
  if (samples.dtype() == intake.dtype) {
    for (int64_t index : indices) {
      std::memcpy(to, samples.bytes() + index * from, size_t(from));
      to += from;
    }
    return;
  }
  bool scale = intake.scaleBytes && samples.dtype() == DType::u8 && isFloat(intake.dtype);
  withType(samples.dtype(), [&](auto source) {
    withType(intake.dtype, [&](auto target) {
      using From = decltype(source);
      using To = decltype(target);
      To *at = static_cast<To *>(out);
      for (int64_t index : indices) {
        convert<From, To>(samples.bytes() + index * from, at, elements, scale, samples, index);
        at += elements;
      }
    });
  });
}

void checkClasses(const Samples &samples, int64_t classes, const int64_t *ignoreIndex) {
  withType(samples.dtype(), [&](auto source) {
    using From = decltype(source);
    using Wide = decltype(widen(source));
    if constexpr (std::is_integral_v<Wide>) {
      int64_t each = samples.sampleElements(), count = samples.count() * each;
      for (int64_t i = 0; i < count; ++i) {
        Wide value = widen(loadElement<From>(samples.bytes() + i * int64_t(sizeof(From))));
        if (std::cmp_greater_equal(value, 0) && std::cmp_less(value, classes)) continue;
        if (ignoreIndex && std::cmp_equal(value, *ignoreIndex)) continue;
        badInput(samples.name() + ": sample " + std::to_string(i / each) + " (from 0) has class " +
                 std::to_string(value) + ", the network has " + std::to_string(classes) + " (0 to " +
                 std::to_string(classes - 1) + ")");
      }
    } else {
      badInput(samples.name() + ": is " + std::string(name(samples.dtype())) + ", expected integer classes");
    }
  });
}

} // namespace sprig::data
