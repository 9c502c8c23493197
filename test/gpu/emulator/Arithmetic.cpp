// Arithmetic that the host has no instruction for. Compiled with -frounding-math: operations happen in the mode that is
// set.
#include "test/gpu/emulator/Hooks.h"
#include "test/gpu/image/Codes.h"
#include <bit>
#include <cfenv>
#include <cmath>

using namespace sprig::gpu;

namespace {
struct RoundingScope {
  explicit RoundingScope(uint32_t rounding) : before(std::fegetround()) {
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::fesetround(modes[rounding]);
  }
  ~RoundingScope() { std::fesetround(before); }
  int before;
};
} // namespace

template <class T> static T rounded(uint32_t operation, uint32_t rounding, T a, T b, T c) {
  RoundingScope scope(rounding);
  volatile T x = a, y = b, z = c; // nothing is computed before the mode is set
  volatile T result = 0;
  switch (RoundedOperation(operation)) {
  case RoundedOperation::Add: result = x + y; break;
  case RoundedOperation::Multiply: result = x * y; break;
  case RoundedOperation::Fma: result = std::fma(T(x), T(y), T(z)); break;
  case RoundedOperation::Divide: result = x / y; break;
  case RoundedOperation::SquareRoot: result = std::sqrt(T(x)); break;
  }
  return result;
}
float hooks_impl::roundedF32(uint32_t operation, uint32_t rounding, float a, float b, float c) {
  return rounded(operation, rounding, a, b, c);
}
double hooks_impl::roundedF64(uint32_t operation, uint32_t rounding, double a, double b, double c) {
  return rounded(operation, rounding, a, b, c);
}

float hooks_impl::narrowToF32(double value, uint32_t rounding) {
  RoundingScope scope(rounding);
  volatile double x = value;
  volatile float result = float(x);
  return result;
}

// In double, then rounded: the nearest float but for one case in some hundred millions. PTX allows for 2 ulp in ex2,
// for an absolute 2^-20.5 and more in sin and cos, 2^-22 in lg2, a relative 2^-11 in tanh.
float hooks_impl::approximate(uint32_t function, float x) {
  switch (Approximation(function)) {
  case Approximation::Exp2: return float(std::exp2(double(x)));
  case Approximation::Log2: return float(std::log2(double(x)));
  case Approximation::Sine: return float(std::sin(double(x)));
  case Approximation::Cosine: return float(std::cos(double(x)));
  case Approximation::Tanh: return float(std::tanh(double(x)));
  }
  return x;
}

namespace {
struct Format {
  int bits, minExponent, maxExponent; // significant bits; exponents of the smallest normal and the largest number
};
} // namespace
static const Format formats[] = {{11, -14, 15}, {8, -126, 127}, {11, -126, 127}};

// The value rounded to a format, as a double, which holds all of them.
static double roundTo(double value, const Format &format, Rounding rounding) {
  if (!std::isfinite(value) || value == 0) return value;
  int exponent = std::max(std::ilogb(value), format.minExponent);
  double unit = std::ldexp(1.0, exponent - format.bits + 1), scaled = std::fabs(value) / unit,
         floor = std::floor(scaled), rest = scaled - floor;
  bool isNegative = value < 0, up = false;
  switch (rounding) {
  case Rounding::Nearest: up = rest > 0.5 || (rest == 0.5 && std::fmod(floor, 2) == 1); break;
  case Rounding::NearestAway: up = rest >= 0.5; break;
  case Rounding::Zero: break;
  case Rounding::Down: up = isNegative && rest > 0; break;
  case Rounding::Up: up = !isNegative && rest > 0; break;
  }
  double result = (floor + up) * unit;
  double largest = std::ldexp(2.0 - std::ldexp(1.0, 1 - format.bits), format.maxExponent);
  if (result > largest) {
    bool overflows = rounding == Rounding::Nearest || rounding == Rounding::NearestAway ||
                     rounding == (isNegative ? Rounding::Down : Rounding::Up);
    result = overflows ? INFINITY : largest;
  }
  return std::copysign(result, value);
}

static uint32_t encode(double value, NarrowFormat format) {
  if (format != NarrowFormat::F16) {
    uint32_t bits = std::isnan(value) ? 0x7fffffffu : std::bit_cast<uint32_t>(float(value));
    return format == NarrowFormat::BF16 ? (std::isnan(value) ? 0x7fffu : bits >> 16) : bits;
  }
  uint32_t sign = std::signbit(value) ? 0x8000 : 0;
  if (std::isnan(value)) return 0x7fff;
  if (std::isinf(value)) return sign | 0x7c00;
  double magnitude = std::fabs(value);
  if (magnitude < 0x1p-14) return sign | uint32_t(magnitude * 0x1p24);
  int exponent = std::ilogb(magnitude);
  return sign | uint32_t(exponent + 15) << 10 | (uint32_t(std::ldexp(magnitude, 10 - exponent)) & 0x3ff);
}

uint32_t hooks_impl::narrow(double value, uint32_t format, uint32_t rounding) {
  return encode(roundTo(value, formats[format], Rounding(rounding)), NarrowFormat(format));
}

double sprig::gpu::widened(uint32_t bits, NarrowFormat format) {
  if (format == NarrowFormat::BF16) return std::bit_cast<float>(bits << 16);
  if (format == NarrowFormat::TF32) return std::bit_cast<float>(bits);
  uint32_t exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  double magnitude = exponent == 31  ? (fraction ? NAN : INFINITY)
                     : exponent == 0 ? std::ldexp(fraction, -24)
                                     : std::ldexp(fraction + 1024.0, int(exponent) - 25);
  return bits & 0x8000 ? -magnitude : magnitude;
}

// a * b + c with one rounding. The product is exact in double; the sum is rounded to odd there, so that rounding it
// again to far fewer bits is as if it had been exact.
uint32_t hooks_impl::narrowFma(uint32_t a, uint32_t b, uint32_t c, uint32_t format) {
  NarrowFormat kind = NarrowFormat(format);
  double product = widened(a, kind) * widened(b, kind), addend = widened(c, kind), sum = product + addend;
  if (std::isfinite(sum) && sum != 0) {
    double virtualAddend = sum - product, error = (product - (sum - virtualAddend)) + (addend - virtualAddend);
    if (error != 0 && !(std::bit_cast<uint64_t>(sum) & 1)) sum = std::nextafter(sum, error > 0 ? INFINITY : -INFINITY);
  }
  return encode(roundTo(sum, formats[format], Rounding::Nearest), kind);
}

// An integer rounded to `bits` significant ones.
double hooks_impl::integerToFloat(uint64_t value, uint32_t isSigned, uint32_t bits, uint32_t rounding) {
  bool isNegative = isSigned && int64_t(value) < 0;
  uint64_t magnitude = isNegative ? 0 - value : value;
  int excess = 64 - std::countl_zero(magnitude) - int(bits);
  if (excess <= 0) return isNegative ? -double(magnitude) : double(magnitude);
  uint64_t kept = magnitude >> excess, rest = magnitude & ((uint64_t(1) << excess) - 1),
           half = uint64_t(1) << (excess - 1);
  bool up = false;
  switch (Rounding(rounding)) {
  case Rounding::Nearest: up = rest > half || (rest == half && kept % 2); break;
  case Rounding::NearestAway: up = rest >= half; break;
  case Rounding::Zero: break;
  case Rounding::Down: up = isNegative && rest; break;
  case Rounding::Up: up = !isNegative && rest; break;
  }
  double result = std::ldexp(double(kept + up), excess);
  return isNegative ? -result : result;
}
