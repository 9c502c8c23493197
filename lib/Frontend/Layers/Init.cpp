// Initial values on the host: Philox words into the distributions of torch.nn.init.
#include "lib/Data/Array.h"
#include "lib/Data/Philox.h"
#include "lib/Frontend/Record.h"
#include "sprig/error.h"
#include "sprig/init.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

namespace sprig::init {

namespace {

/// The words of one tensor: a stream of its own, so its numbers depend on the seed and on how many were drawn before.
class Words {
public:
  Words() {
    frontend::HostRandom random = frontend::nextHostRandom();
    key = {uint32_t(random.key), uint32_t(random.key >> 32)};
    counter = {uint32_t(random.counter), uint32_t(random.counter >> 32)};
  }
  uint32_t next() {
    if (at == 4) {
      block = data::philox({uint32_t(index), uint32_t(index >> 32), counter[0], counter[1]}, key);
      ++index;
      at = 0;
    }
    return block[size_t(at++)];
  }
  /// In [0, 1): 24 bits, which f32 holds exactly, or 53.
  double uniform(bool isDouble) {
    if (!isDouble) return double(next() >> 8) * 0x1p-24;
    uint64_t high = next() >> 5, low = next() >> 6;
    return double(high << 26 | low) * 0x1p-53;
  }
  /// Box and Muller's method (1958): two numbers at a time.
  double normal(bool isDouble) {
    if (hasSpare) {
      hasSpare = false;
      return spare;
    }
    double radius = std::sqrt(-2 * std::log(1 - uniform(isDouble))), angle = 2 * std::numbers::pi * uniform(isDouble);
    spare = radius * std::sin(angle);
    hasSpare = true;
    return radius * std::cos(angle);
  }

private:
  std::array<uint32_t, 2> key, counter;
  std::array<uint32_t, 4> block{};
  uint64_t index = 0;
  int at = 4;
  double spare = 0;
  bool hasSpare = false;
};

/// Memory of a tensor that is being filled.
class Filling {
public:
  explicit Filling(const TensorType &type)
      : type(type), capacity(capacityOf(type)), memory(std::aligned_alloc(64, capacity)) {
    if (!memory) runtimeError("out of memory: a tensor of " + describe(type));
  }
  ~Filling() { std::free(memory); }
  Filling(const Filling &) = delete;
  template <typename T> T *as() { return static_cast<T *>(memory); }
  Tensor finish() {
    void *owned = std::exchange(memory, nullptr);
    return Tensor::adopt(owned, type, int64_t(capacity), [](void *user) { std::free(user); }, owned);
  }

private:
  static size_t capacityOf(const TensorType &type) {
    std::optional<int64_t> bytes = data::byteSize(data::DType(type.dtype), type.shape.vector());
    if (!bytes || *bytes > INT64_MAX - 64)
      badUse("a tensor of " + describe(type) + " has no size that a computer can hold");
    return std::max<size_t>((size_t(*bytes) + 63) / 64 * 64, 128);
  }

  TensorType type;
  size_t capacity;
  void *memory;
};

/// A tensor whose elements f gives, in row-major order.
template <typename F> Tensor fill(const TensorType &type, const char *what, Source at, F f) {
  if (!isFloat(type.dtype))
    frontend::fail(at, std::string("init::") + what, "random numbers are floats, asked for is " + describe(type));
  Filling filling(type);
  auto each = [&](auto *memory, auto convert) {
    for (int64_t i = 0, count = type.elements(); i < count; ++i) memory[i] = convert(f());
  };
  switch (type.dtype) {
  case DType::f64: each(filling.as<double>(), [](double x) { return x; }); break;
  case DType::f32: each(filling.as<float>(), [](double x) { return float(x); }); break;
  case DType::f16: each(filling.as<uint16_t>(), data::toHalf); break;
  default: each(filling.as<uint16_t>(), data::toBFloat16); break;
  }
  return filling.finish();
}

/// All elements the same.
template <typename T> Tensor repeat(const TensorType &type, T value) {
  Filling filling(type);
  std::fill_n(filling.as<T>(), type.elements(), value);
  return filling.finish();
}

struct Fans {
  double in, out;
};
Fans fansOf(const TensorType &type, const char *what, Source at) {
  const Shape &shape = type.shape;
  if (shape.rank() < 2)
    frontend::fail(at, std::string("init::") + what, "fan in and fan out need two dimensions, it is " + describe(type));
  double window = 1;
  for (int i = 2; i < shape.rank(); ++i) window *= double(shape[i]);
  return {double(shape[1]) * window, double(shape[0]) * window};
}

Tensor uniformAs(const TensorType &type, const char *what, double low, double high, Source at) {
  Words words;
  bool isDouble = type.dtype == DType::f64;
  return fill(type, what, at, [&] { return low + (high - low) * words.uniform(isDouble); });
}
Tensor normalAs(const TensorType &type, const char *what, double mean, double deviation, Source at) {
  Words words;
  bool isDouble = type.dtype == DType::f64;
  return fill(type, what, at, [&] { return mean + deviation * words.normal(isDouble); });
}

double densityBelow(double x) { return std::erfc(-x / std::numbers::sqrt2) / 2; }

} // namespace

double gain(Nonlinearity nonlinearity, double slope) {
  switch (nonlinearity) {
  case Nonlinearity::linear:
  case Nonlinearity::sigmoid: return 1;
  case Nonlinearity::tanh: return 5.0 / 3;
  case Nonlinearity::relu: return std::numbers::sqrt2;
  case Nonlinearity::leakyRelu: return std::sqrt(2 / (1 + slope * slope));
  case Nonlinearity::selu: return 0.75;
  }
  return 1;
}

Tensor zeros(const TensorType &type) { return constant(type, 0, Source()); }
Tensor ones(const TensorType &type) { return constant(type, 1, Source()); }
Tensor constant(const TensorType &type, double value, Source at) {
  uint64_t bits = frontend::bitsOf(value, type.dtype, at, "init::constant");
  switch (size(type.dtype)) {
  case 8: return repeat(type, bits);
  case 4: return repeat(type, uint32_t(bits));
  case 2: return repeat(type, uint16_t(bits));
  default: return repeat(type, uint8_t(bits));
  }
}

Tensor uniform(const TensorType &type, double low, double high, Source at) {
  return uniformAs(type, "uniform", low, high, at);
}
Tensor normal(const TensorType &type, double mean, double deviation, Source at) {
  return normalAs(type, "normal", mean, deviation, at);
}

Tensor truncNormal(const TensorType &type, double mean, double deviation, double low, double high, Source at) {
  if (!(low < high) || !(deviation > 0))
    frontend::fail(at, "init::truncNormal",
                   "the range from " + frontend::realText(low) + " to " + frontend::realText(high) +
                       " with the deviation " + frontend::realText(deviation) + " is empty");
  double a = (low - mean) / deviation, b = (high - mean) / deviation;
  bool isDouble = type.dtype == DType::f64;
  Words words;
  if (densityBelow(b) - densityBelow(a) > 0.2)
    return fill(type, "truncNormal", at, [&] {
      double x;
      do x = words.normal(isDouble);
      while (x < a || x > b);
      return mean + deviation * x;
    });
  // Little of the distribution lies in the range: uniform numbers of it, kept in proportion to the density. Of a tail
  // only that end counts where more than e^-40 of the highest density is left.
  double near = a > 0 ? a : b < 0 ? b : 0;
  double left = b < 0 ? std::max(a, b - 40 / std::max(-b, 4.0)) : a;
  double right = a > 0 ? std::min(b, a + 40 / std::max(a, 4.0)) : b;
  return fill(type, "truncNormal", at, [&] {
    double x;
    do x = left + (right - left) * words.uniform(true);
    while (words.uniform(true) > std::exp((near * near - x * x) / 2));
    return mean + deviation * x;
  });
}

Tensor xavierUniform(const TensorType &type, double gain, Source at) {
  Fans fans = fansOf(type, "xavierUniform", at);
  double bound = gain * std::sqrt(6 / (fans.in + fans.out));
  return uniformAs(type, "xavierUniform", -bound, bound, at);
}
Tensor xavierNormal(const TensorType &type, double gain, Source at) {
  Fans fans = fansOf(type, "xavierNormal", at);
  return normalAs(type, "xavierNormal", 0, gain * std::sqrt(2 / (fans.in + fans.out)), at);
}
Tensor kaimingUniform(const TensorType &type, double slope, Fan fan, Nonlinearity nonlinearity, Source at) {
  Fans fans = fansOf(type, "kaimingUniform", at);
  double bound = gain(nonlinearity, slope) * std::sqrt(3 / (fan == Fan::in ? fans.in : fans.out));
  return uniformAs(type, "kaimingUniform", -bound, bound, at);
}
Tensor kaimingNormal(const TensorType &type, double slope, Fan fan, Nonlinearity nonlinearity, Source at) {
  Fans fans = fansOf(type, "kaimingNormal", at);
  return normalAs(type, "kaimingNormal", 0, gain(nonlinearity, slope) / std::sqrt(fan == Fan::in ? fans.in : fans.out),
                  at);
}

Tensor orthogonal(const TensorType &type, double gain, Source at) {
  if (type.shape.rank() < 2)
    frontend::fail(at, "init::orthogonal", "at least two dimensions are needed, it is " + describe(type));
  size_t rows = size_t(type.shape[0]), columns = rows ? size_t(type.elements()) / rows : 0;
  size_t count = std::min(rows, columns), length = std::max(rows, columns);
  // Orthonormal vectors from normal ones by Gram and Schmidt's method, twice for accuracy.
  Words words;
  std::vector<double> q(count * length);
  for (double &x : q) x = words.normal(true);
  for (size_t i = 0; i < count; ++i) {
    double *v = &q[i * length];
    for (int pass = 0; pass < 2; ++pass)
      for (size_t j = 0; j < i; ++j) {
        const double *u = &q[j * length];
        double product = 0;
        for (size_t k = 0; k < length; ++k) product += u[k] * v[k];
        for (size_t k = 0; k < length; ++k) v[k] -= product * u[k];
      }
    double norm = 0;
    for (size_t k = 0; k < length; ++k) norm += v[k] * v[k];
    norm = std::sqrt(norm);
    for (size_t k = 0; k < length; ++k) v[k] /= norm;
  }
  size_t index = 0;
  return fill(type, "orthogonal", at, [&] {
    size_t row = index / columns, column = index % columns;
    ++index;
    return gain * (rows <= columns ? q[row * length + column] : q[column * length + row]);
  });
}

} // namespace sprig::init
