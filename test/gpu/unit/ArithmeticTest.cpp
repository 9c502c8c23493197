// Arithmetic of floats against expectations that are exact: which of two neighbouring floats is right follows from the
// sign of a difference that a double holds.
#include "test/gpu/unit/Kernels.h"
#include <bit>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <random>

using namespace sprig::gpu;

static const Kernels &arithmetic() {
  static Kernels kernels(oracleText("arithmetic.ptx"), "arithmetic.ptx");
  return kernels;
}
static uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }
static float number(uint32_t x) { return std::bit_cast<float>(x); }
static int sign(double x) { return (x > 0) - (x < 0); }

// The sign of a * b + c - r; the product is exact in double, the rest by error-free sums.
static int residue(float a, float b, float c, float r) {
  double p = double(a) * b, s = p + c, v = s - p, e = (p - (s - v)) + (c - v); // s + e is exact
  double d = s - r;                                                            // exact: r is near s
  return d != 0 ? sign(d + e) : sign(e);
}
enum Way { nearest, zero, down, up };
// From the nearest float to the one that the way wants.
static float directed(float r, int residue, Way way) {
  if (!std::isfinite(r) || residue == 0 || way == nearest) return r;
  bool isAbove = residue < 0; // r is
  if (way == zero) way = std::signbit(r) ? up : down;
  if (way == down) return isAbove ? std::nextafter(r, -INFINITY) : r;
  return isAbove ? r : std::nextafter(r, INFINITY);
}

TEST(Arithmetic, RoundsAsTold) {
  constexpr int n = 512;
  std::mt19937 random(11);
  std::uniform_real_distribution<float> uniform(-4, 4);
  std::vector<float> x(n), y(n), z(n);
  for (int i = 0; i < n; ++i)
    x[i] = uniform(random), y[i] = uniform(random) * (i % 7 ? 1 : 1e-4f), z[i] = uniform(random);
  x[0] = 1, y[0] = 1, x[1] = 0, y[1] = -2, x[2] = -3.5f, y[2] = 0.5f, x[3] = 2.5f, y[3] = 1;
  std::vector<uint32_t> out(n * 32);
  LaunchReport report =
      arithmetic().run("floats", {4}, {128}, checkedWith(x, y, z, out), x.data(), y.data(), z.data(), out.data());
  EXPECT_EQ(report.text(), "");
  for (int i = 0; i < n; ++i) {
    float a = x[i], b = y[i], c = z[i], sum = a + b, product = a * b, fused = std::fma(a, b, c), quotient = a / b;
    std::vector<float> expected;
    for (Way way : {nearest, zero, down, up}) expected.push_back(directed(sum, residue(a, 1, b, sum), way));
    for (Way way : {nearest, zero, down, up}) expected.push_back(directed(product, residue(a, b, 0, product), way));
    for (Way way : {nearest, zero, down, up}) expected.push_back(directed(fused, residue(a, b, c, fused), way));
    // a / b - q has the sign of (a - q b) / b.
    for (Way way : {nearest, zero, down, up})
      expected.push_back(directed(quotient, sign(a - double(quotient) * b) * sign(b), way));
    float root = std::sqrt(a), inverse = 1 / a;
    for (Way way : {nearest, zero}) expected.push_back(directed(root, sign(a - double(root) * root), way));
    for (Way way : {nearest, up}) expected.push_back(directed(inverse, sign(1 - double(inverse) * a) * sign(a), way));
    for (float one :
         {std::fmin(a, b), std::fmax(a, b), std::fabs(a), -a, std::fmin(std::fmax(a, 0.f), 1.f), std::floor(a),
          std::ceil(a), std::trunc(a), std::nearbyint(a), std::copysign(a, b), a < b ? c : a})
      expected.push_back(one);
    expected.push_back(number(uint32_t(int(std::nearbyint(a)))));
    for (int k = 0; k < 32; ++k) {
      float got = number(out[i * 32 + k]);
      if (std::isnan(expected[k]))
        EXPECT_TRUE(std::isnan(got)) << i << ", " << k;
      else
        ASSERT_EQ(bits(got), bits(expected[k])) << "operation " << k << " of " << a << ", " << b << ", " << c;
    }
  }
}

TEST(Arithmetic, FlushesAndPropagates) {
  float tiny = number(0x00000001), small = number(0x007fffff), least = number(0x00800000), infinity = INFINITY,
        nan = NAN;
  std::vector<float> x = {tiny, -small, least, 1.5f, nan, infinity, 0.f, -3.f},
                     y = {1.f, tiny, -0.5f, -1.f, 2.f, 1.f, -0.f, nan};
  std::vector<uint32_t> out(8 * 4);
  EXPECT_EQ(arithmetic().run("flushed", {1}, {8}, checkedWith(x, y, out), x.data(), y.data(), out.data()).text(), "");
  auto at = [&](int i, int k) { return out[i * 4 + k]; };
  EXPECT_EQ(at(0, 0), bits(1.f));
  EXPECT_EQ(at(0, 1), 0u);          // a subnormal operand is zero
  EXPECT_EQ(at(1, 0), 0u);          // -0 + 0
  EXPECT_EQ(at(1, 1), 0x80000000u); // -0 * 0
  EXPECT_EQ(at(2, 0), bits(-0.5f)); // the smallest normal number is none
  EXPECT_EQ(at(2, 1), 0x80000000u); // a subnormal result is zero
  EXPECT_EQ(at(3, 2), 0u);          // 1.5 * -1 + 1.5, saturated
  EXPECT_EQ(at(4, 2), 0u);          // NaN saturates to 0
  EXPECT_EQ(at(5, 2), bits(1.f));
  EXPECT_EQ(at(6, 3), 0u);          // max(0, -0)
  EXPECT_EQ(at(4, 3), 0x7fffffffu); // the canonical NaN
  EXPECT_EQ(at(7, 3), 0x7fffffffu);
}

TEST(Arithmetic, ApproximatesWithinDocumentedBounds) {
  constexpr int n = 256;
  std::vector<float> x(n), out(n * 8);
  for (int i = 0; i < n; ++i) x[i] = float(i + 1) * 3.14159f / n;
  EXPECT_EQ(arithmetic().run("approximate", {2}, {128}, checkedWith(x, out), x.data(), out.data()).text(), "");
  for (int i = 0; i < n; ++i) {
    double a = x[i], ulp = 0x1p-23;
    const float *got = &out[i * 8];
    EXPECT_NEAR(got[0], std::exp2(a), 2 * ulp * std::exp2(a));
    EXPECT_NEAR(got[1], std::log2(a), a > 0.5 && a < 2 ? 0x1p-22 : 2 * ulp * std::fabs(std::log2(a)));
    EXPECT_NEAR(got[2], std::sin(a), 0x1p-20);
    EXPECT_NEAR(got[3], std::cos(a), 0x1p-20);
    EXPECT_NEAR(got[4], std::tanh(a), 0x1p-11 * std::tanh(a));
    EXPECT_NEAR(got[5], 1 / std::sqrt(a), 3 * ulp / std::sqrt(a));
    EXPECT_NEAR(got[6], std::sqrt(a), 2 * ulp * std::sqrt(a));
    EXPECT_NEAR(got[7], 1 / a, 2 * ulp / a);
  }
}

// All numbers of a format of 16 bits, ascending, and what a value is rounded to among them.
struct Format {
  explicit Format(bool isBrain) : isBrain(isBrain) {
    for (uint32_t i = 0; i < 0x10000; ++i)
      if (double v = decode(i); std::isfinite(v) && i != 0x8000) all.push_back({v, uint16_t(i)});
    std::sort(all.begin(), all.end());
  }
  double decode(uint32_t i) const {
    if (isBrain) return number(i << 16);
    int exponent = int(i >> 10 & 31), fraction = int(i & 0x3ff);
    double magnitude = exponent == 31 ? (fraction ? NAN : INFINITY)
                       : exponent     ? std::ldexp(1 + fraction / 1024., exponent - 15)
                                      : std::ldexp(fraction / 1024., -14);
    return i & 0x8000 ? -magnitude : magnitude;
  }
  uint16_t round(double v, Way way) const { // of values inside the range
    auto above = std::lower_bound(all.begin(), all.end(), std::pair<double, uint16_t>(v, 0),
                                  [](auto &a, auto &b) { return a.first < b.first; });
    uint16_t result;
    if (above->first == v) {
      result = above->second;
    } else {
      auto below = above - 1;
      double lower = v - below->first, upper = above->first - v;
      bool goesUp = way == up || (way == zero && v < 0) ||
                    (way == nearest && (upper < lower || (upper == lower && below->second & 1)));
      result = goesUp ? above->second : below->second;
    }
    return result == 0 && std::signbit(v) ? 0x8000 : result;
  }
  bool isBrain;
  std::vector<std::pair<double, uint16_t>> all;
};

template <class T> static T clamped(double v) {
  if (std::isnan(v)) return 0;
  if (v <= double(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (v >= double(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return T(v);
}

TEST(Arithmetic, ConvertsFloats) {
  std::vector<double> x = {0,
                           -0.,
                           1,
                           -1,
                           0.5,
                           1.5,
                           2.5,
                           -2.5,
                           1 + 0x1p-24,
                           1 + 0x1p-24 + 0x1p-50,
                           -1 - 0x1p-30,
                           2049,
                           2051,
                           65000.25,
                           1e-5,
                           3e-8,
                           -6.1e-5,
                           1234567.75,
                           4e9,
                           -4e9,
                           1e19,
                           -1e19,
                           3.999999,
                           257,
                           259,
                           1 + 0x1p-11,
                           1 + 0x1p-8,
                           1 + 3 * 0x1p-8,
                           NAN};
  while (x.size() % 32) x.push_back(double(x.size()) * 1.37);
  constexpr int columns = 20;
  int n = int(x.size());
  std::vector<uint64_t> out(n * columns);
  EXPECT_EQ(arithmetic().run("conversions", {1}, {uint32_t(n)}, checkedWith(x, out), x.data(), out.data()).text(), "");
  Format half(false), brain(true);
  for (int i = 0; i < n; ++i) {
    double d = x[i];
    float f = float(d), r = f;
    auto toFloat = [&](Way way) { return uint64_t(bits(directed(r, sign(d - r), way))); };
    auto toHalf = [&](double v, Way way) -> uint64_t {
      return std::isnan(v) ? 0x7fff : std::fabs(v) < 65504 ? half.round(v, way) : ~0u;
    };
    auto toBrain = [&](Way way) -> uint64_t { return std::isnan(f) ? 0x7fff : brain.round(f, way); };
    uint64_t minInt64 = uint64_t(1) << 63;
    uint32_t tf = bits(f), rest = tf & 0x1fff;
    tf = (tf & ~0x1fffu) + (rest >= 0x1000 ? 0x2000 : 0); // ties away from zero
    uint64_t expected[columns] = {toFloat(nearest),
                                  toFloat(zero),
                                  toFloat(down),
                                  toFloat(up),
                                  uint32_t(clamped<int32_t>(std::trunc(f))),
                                  uint32_t(clamped<int32_t>(std::nearbyint(f))),
                                  uint32_t(clamped<int32_t>(std::floor(f))),
                                  uint32_t(clamped<int32_t>(std::ceil(f))),
                                  clamped<uint32_t>(std::trunc(f)),
                                  std::isnan(f) ? minInt64 : uint64_t(clamped<int64_t>(std::trunc(f))),
                                  std::isnan(f) ? minInt64 : clamped<uint64_t>(std::nearbyint(f)),
                                  uint32_t(clamped<int32_t>(std::nearbyint(d))),
                                  std::isnan(d) ? minInt64 : uint64_t(clamped<int64_t>(std::floor(d))),
                                  toHalf(f, nearest),
                                  toHalf(f, zero),
                                  toHalf(f, up),
                                  toBrain(nearest),
                                  toBrain(zero),
                                  std::isnan(f) ? 0x7fffffff : tf,
                                  toHalf(d, nearest)};
    for (int k = 0; k < columns; ++k) {
      if (std::isnan(d) && k < 4) continue;        // a NaN
      if (std::isnan(d) && k == 11) continue;      // PTX: of f64 to s32, the smallest; checked below
      if (expected[k] == ~0u && k >= 13) continue; // beyond f16's range, checked below
      EXPECT_EQ(out[i * columns + k], expected[k]) << "conversion " << k << " of " << d;
    }
    // Beyond f16's range: to infinity, or to the largest number.
    auto halves = [&] { return std::vector<uint64_t>(&out[i * columns + 13], &out[i * columns + 16]); };
    if (d == 4e9) EXPECT_EQ(halves(), (std::vector<uint64_t>{0x7c00, 0x7bff, 0x7c00}));
    if (d == -4e9) EXPECT_EQ(halves(), (std::vector<uint64_t>{0xfc00, 0xfbff, 0xfbff}));
  }
}

TEST(Arithmetic, ConvertsIntegers) {
  std::vector<int64_t> x = {0,
                            1,
                            -1,
                            127,
                            128,
                            -129,
                            2049,
                            65504,
                            65519,
                            65520,
                            16777217,
                            -16777217,
                            16777219,
                            2147483647,
                            -2147483648ll,
                            4294967295ll,
                            (1ll << 53) + 1,
                            -(1ll << 53) - 1,
                            (1ll << 62) + 1,
                            std::numeric_limits<int64_t>::min(),
                            -65520,
                            33333,
                            2051,
                            40000,
                            1 << 30,
                            5,
                            6,
                            7,
                            8,
                            9,
                            10,
                            11};
  std::vector<uint64_t> out(x.size() * 9);
  EXPECT_EQ(
      arithmetic().run("integersToFloats", {1}, {uint32_t(x.size())}, checkedWith(x, out), x.data(), out.data()).text(),
      "");
  Format half(false);
  for (size_t i = 0; i < x.size(); ++i) {
    int64_t v = x[i];
    auto exact = [](auto value, float r, Way way) {
      __int128 difference = __int128(value) - __int128(r);
      return uint64_t(bits(directed(r, (difference > 0) - (difference < 0), way)));
    };
    double wide = double(v);
    if (__int128(wide) != v && std::fabs(wide) > std::fabs(double(v < 0 ? v + 1 : v - 1)))
      wide = std::nextafter(wide, 0);
    if ((__int128(wide) > v) == (v > 0) && __int128(wide) != v) wide = std::nextafter(wide, 0);
    uint64_t halfExpected = std::abs(int64_t(int(v))) < 65520
                                ? half.round(std::fmin(std::fmax(int(v), -65504), 65504), nearest)
                            : int(v) < 0 ? 0xfc00
                                         : 0x7c00;
    uint64_t expected[] = {exact(int(v), float(int(v)), nearest),
                           exact(int(v), float(int(v)), zero),
                           exact(unsigned(v), float(unsigned(v)), up),
                           exact(v, float(v), nearest),
                           exact(uint64_t(v), float(uint64_t(v)), down),
                           std::bit_cast<uint64_t>(wide),
                           halfExpected,
                           uint64_t(int64_t(int8_t(v))),
                           uint16_t(v)};
    for (int k = 0; k < 9; ++k) EXPECT_EQ(out[i * 9 + k], expected[k]) << "conversion " << k << " of " << v;
  }
}

TEST(Arithmetic, ComputesInHalves) {
  constexpr int n = 512;
  Format half(false), brain(true);
  std::mt19937 random(17);
  std::vector<uint32_t> x(n), y(n), z(n), out(n * 10);
  auto one = [&] { return uint32_t(0x3000 + random() % 0x1000) | (random() & 1) << 15; }; // magnitudes 1/8 to 2 as f16
  for (int i = 0; i < n; ++i) x[i] = one() | one() << 16, y[i] = one() | one() << 16, z[i] = one() | one() << 16;
  // Sums that round to a tie in double, were they rounded there: 1 + 2^-11 + 2^-24 of products.
  x[0] = 0x3c003c00, y[0] = 0x10001000, z[0] = 0x3c003c00;
  EXPECT_EQ(arithmetic()
                .run("halves", {4}, {128}, checkedWith(x, y, z, out), x.data(), y.data(), z.data(), out.data())
                .text(),
            "");
  for (int i = 0; i < n; ++i)
    for (int lane = 0; lane < 2; ++lane) {
      auto of = [&](uint32_t word, const Format &format) { return format.decode(word >> (16 * lane) & 0xffff); };
      double a = of(x[i], half), b = of(y[i], half), c = of(z[i], half);
      // Products of two and sums of three such numbers are exact in double.
      double expected[] = {a + b, a - b, a * b, a * b + c, -a, std::fabs(a), std::fmin(a, b), std::fmax(a, b)};
      for (int k = 0; k < 8; ++k)
        ASSERT_EQ(out[i * 10 + k] >> (16 * lane) & 0xffff, half.round(expected[k], nearest))
            << "operation " << k << " of " << a << ", " << b << ", " << c;
      double p = of(x[i], brain), q = of(y[i], brain), s = of(z[i], brain);
      if (std::fabs(p * q) > std::fabs(s) * 0x1p-30) // exact in double
        ASSERT_EQ(out[i * 10 + 8] >> (16 * lane) & 0xffff, brain.round(p * q + s, nearest))
            << p << ", " << q << ", " << s;
      ASSERT_EQ(out[i * 10 + 9] >> (16 * lane) & 0xffff, brain.round(std::fmax(p, q), nearest));
    }
}
