#include "test/unit/OpTable/InputData.h"
#include "lib/Interpreter/Numbers.h"
#include <cmath>
#include <limits>

namespace sprig::optable {
namespace {

// SplitMix64: small, and the same everywhere.
struct Random {
  uint64_t state;
  uint64_t bits() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  double unit() { return double(bits() >> 11) * 0x1p-53; }
};

struct FloatRange {
  double largest, smallestNormal, smallest;
};
FloatRange rangeOf(mlir::Type type) {
  if (type.isF64()) return {std::numeric_limits<double>::max(), 0x1p-1022, 0x1p-1074};
  if (type.isF32()) return {std::numeric_limits<float>::max(), 0x1p-126, 0x1p-149};
  if (type.isF16()) return {65504, 0x1p-14, 0x1p-24};
  return {std::ldexp(255, 120), 0x1p-126, 0x1p-133};
}

double specialFloat(mlir::Type type, int64_t i, Random &random) {
  FloatRange range = rangeOf(type);
  double infinity = std::numeric_limits<double>::infinity();
  const double values[] = {0.0,
                           -0.0,
                           1,
                           -1,
                           infinity,
                           -infinity,
                           std::nan(""),
                           range.smallest,
                           -range.smallest,
                           range.smallestNormal,
                           -range.smallestNormal,
                           range.largest,
                           -range.largest,
                           0.5,
                           -0.5,
                           1.5,
                           2.5,
                           -2.5,
                           0.25,
                           3,
                           10,
                           -10,
                           88.5,
                           -88.5,
                           100.25,
                           -104};
  if (i < int64_t(std::size(values))) return values[i];
  // Any sign and exponent that the type has.
  double exponent = std::log2(range.smallest) + random.unit() * (std::log2(range.largest) - std::log2(range.smallest));
  double value = std::exp2(i & 1 ? exponent : random.unit() * 8 - 4);
  return random.bits() & 1 ? value : -value;
}

std::vector<double> makeFloats(mlir::Type type, int64_t count, Pattern pattern, Random random) {
  std::vector<double> values(count);
  for (int64_t i = 0; i < count; ++i) {
    double u = random.unit(), value = 0;
    switch (pattern.fill) {
    case Fill::Plain: value = 6 * u - 3; break;
    case Fill::Special: value = specialFloat(type, i, random); break;
    case Fill::Positive: value = 0.05 + 3 * u; break;
    case Fill::Unit: value = 2 * u - 1; break;
    case Fill::NonZero: value = (random.bits() & 1 ? 1 : -1) * (0.25 + 3 * u); break;
    case Fill::Index: value = std::floor(u * double(pattern.limit)); break;
    case Fill::Distinct: value = double((i * 7919 + 13) % 65521) / 64 - 100; break;
    }
    values[i] = interp::roundTo(value, type);
  }
  return values;
}

std::vector<int64_t> makeIntegers(mlir::Type type, int64_t count, Pattern pattern, Random random) {
  std::vector<int64_t> values(count);
  bool isU = interp::isUnsigned(type);
  const int64_t specials[] = {0, 1, -1, interp::lowestOf(type), interp::highestOf(type), 2, -2, 7, 100};
  for (int64_t i = 0; i < count; ++i) {
    int64_t value = 0, small = random.bits() % 19;
    switch (pattern.fill) {
    case Fill::Plain:
    case Fill::Unit: value = isU ? small : small - 9; break;
    case Fill::Special: value = i < int64_t(std::size(specials)) ? specials[i] : int64_t(random.bits()); break;
    case Fill::Positive: value = small + 1; break;
    case Fill::NonZero: value = isU || random.bits() & 1 ? small + 1 : -small - 1; break;
    case Fill::Index: value = int64_t(random.bits() % (2 * pattern.limit)) - pattern.limit; break;
    case Fill::Distinct: value = (i * 7919 + 13) % 65521; break;
    }
    values[i] = interp::wrapTo(type.isInteger(1) ? value & 1 : value, type);
  }
  return values;
}

} // namespace

interp::Tensor makeInput(mlir::RankedTensorType type, Pattern pattern, uint64_t seed) {
  Random random{seed * 0x2545f4914f6cdd1d + 1};
  mlir::Type element = type.getElementType();
  // By way of bytes: a tensor of one element is not to be taken for a splat, nor a double for what its type can't hold.
  interp::Tensor values =
      llvm::isa<mlir::FloatType>(element)
          ? interp::Tensor::ofFloats(type, makeFloats(element, type.getNumElements(), pattern, random))
          : interp::Tensor::ofIntegers(type, makeIntegers(element, type.getNumElements(), pattern, random));
  return interp::Tensor::ofBytes(type, values.bytes());
}

} // namespace sprig::optable
