// Fourier transforms against their sums, linear algebra against its equations and against elimination, in double
// precision.
#include "test/unit/Frontend/Expect.h"
#include "test/unit/Frontend/Ops/Harness.h"
#include <numbers>

using namespace sprig;
using namespace sprig::test;

namespace {

struct Spectrum {
  Array re, im;
};
/// Along the last axis, of n elements (cut, or zeros at the end).
Spectrum fourier(const Array &re, const Array *im, int64_t n, int sign) {
  Shape shape = re.shape;
  int last = shape.rank() - 1;
  shape[last] = n;
  auto sum = [&](bool wantsImaginary) {
    return generate(shape, [&](const Position &i) {
      double total = 0;
      for (int64_t j = 0; j < std::min(n, re.shape[last]); ++j) {
        Position from = i;
        from[size_t(last)] = j;
        double angle = sign * 2 * std::numbers::pi * double(i[size_t(last)] * j % n) / double(n);
        double x = at(re, from), y = im ? at(*im, from) : 0;
        total += wantsImaginary ? x * std::sin(angle) + y * std::cos(angle) : x * std::cos(angle) - y * std::sin(angle);
      }
      return total;
    });
  };
  return {sum(false), sum(true)};
}
Array scaled(const Array &a, double by) {
  return map(a, [by](double v) { return v * by; });
}
Array cut(const Array &a, int64_t n) {
  Shape shape = a.shape;
  shape[shape.rank() - 1] = n;
  return generate(shape, [&](const Position &i) { return at(a, i); });
}

std::vector<Tensor> parts(const Complex &x) { return {x.re, x.im}; }

TEST(Fourier, EveryLength) {
  for (int64_t n : {1, 2, 3, 8, 13, 64, 66, 67, 90, 127, 256, 1001}) {
    Array x = numbers({2, n}, 1), y = numbers({2, n}, 2);
    std::string name = std::to_string(n);
    double close = 2e-6 * std::sqrt(double(n));
    Spectrum real = fourier(x, nullptr, n, -1), there = fourier(x, &y, n, -1), back = fourier(x, &y, n, 1);
    checkMany("fft " + name, {tensorOf(x)}, [](Inputs v) { return parts(fft(v[0])); }, {{real.re}, {real.im}}, close);
    checkMany(
        "complex fft " + name, {tensorOf(x), tensorOf(y)}, [](Inputs v) { return parts(fft(Complex{v[0], v[1]})); },
        {{there.re}, {there.im}}, close);
    checkMany(
        "ifft " + name, {tensorOf(x), tensorOf(y)}, [](Inputs v) { return parts(ifft({v[0], v[1]})); },
        {{scaled(back.re, 1 / double(n))}, {scaled(back.im, 1 / double(n))}}, close);
    checkMany(
        "rfft " + name, {tensorOf(x)}, [](Inputs v) { return parts(rfft(v[0])); },
        {{cut(real.re, n / 2 + 1)}, {cut(real.im, n / 2 + 1)}}, close);
    check("irfft " + name, {tensorOf(x)}, [n](Inputs v) { return irfft(rfft(v[0]), {.n = n}); }, x, DType::f32, close);
  }
}

TEST(Fourier, OptionsAndDoubles) {
  Array x = numbers({3, 5}, 1), y = numbers({3, 5}, 2);
  for (int64_t n : {4, 8}) {
    Spectrum s = fourier(x, &y, n, -1);
    checkMany("length " + std::to_string(n), {tensorOf(x), tensorOf(y)},
              [n](Inputs v) { return parts(fft(Complex{v[0], v[1]}, {.n = n, .norm = FftNorm::ortho})); },
              {{scaled(s.re, 1 / std::sqrt(double(n)))}, {scaled(s.im, 1 / std::sqrt(double(n)))}});
    checkMany("forward " + std::to_string(n), {tensorOf(x), tensorOf(y)},
              [n](Inputs v) { return parts(fft(Complex{v[0], v[1]}, {.n = n, .norm = FftNorm::forward})); },
              {{scaled(s.re, 1 / double(n))}, {scaled(s.im, 1 / double(n))}});
  }
  Spectrum s = fourier(permuted(x, {1, 0}), nullptr, 3, -1);
  checkMany("along axis 0", {tensorOf(x)}, [](Inputs v) { return parts(fft(v[0], {.axis = 0})); },
            {{permuted(s.re, {1, 0})}, {permuted(s.im, {1, 0})}});
  Array wide = numbers({77}, 3);
  Spectrum exact = fourier(wide, nullptr, 77, -1);
  checkMany(
      "f64", {tensorOf(wide, DType::f64)}, [](Inputs v) { return parts(fft(v[0])); },
      {{exact.re, DType::f64}, {exact.im, DType::f64}}, 1e-13);
  // What is no part of a real signal's spectrum does not count.
  Array half = numbers({4}, 5), imaginary = numbers({4}, 6);
  check(
      "irfft of any spectrum", {tensorOf(half), tensorOf(imaginary)}, [](Inputs v) { return irfft({v[0], v[1]}); },
      generate({6}, [&](const Position &i) {
        double sum = half.values[0] + half.values[3] * (i[0] % 2 ? -1 : 1);
        for (size_t k : {1, 2}) {
          double angle = 2 * std::numbers::pi * double(k) * double(i[0]) / 6;
          sum += 2 * (half.values[k] * std::cos(angle) - imaginary.values[k] * std::sin(angle));
        }
        return sum / 6;
      }));
}

TEST(Fourier, TwoAxesAndHelpers) {
  Array x = numbers({2, 4, 6}, 1);
  Spectrum rows = fourier(x, nullptr, 6, -1);
  Array re = permuted(rows.re, {0, 2, 1}), im = permuted(rows.im, {0, 2, 1});
  Spectrum both = fourier(re, &im, 4, -1);
  re = permuted(both.re, {0, 2, 1}), im = permuted(both.im, {0, 2, 1});
  checkMany("fft2", {tensorOf(x)}, [](Inputs v) { return parts(fft2(v[0])); }, {{re}, {im}});
  checkMany("rfft2", {tensorOf(x)}, [](Inputs v) { return parts(rfft2(v[0])); }, {{cut(re, 4)}, {cut(im, 4)}});
  check("ifft2", {tensorOf(x)}, [](Inputs v) { return ifft2(fft2(v[0])).re; }, x);
  check("irfft2", {tensorOf(x)}, [](Inputs v) { return irfft2(rfft2(v[0]), 6); }, x);
  Complex a{Tensor({1.f, 2.f}), Tensor({3.f, -1.f})}, b{Tensor({2.f, 0.f}), Tensor({1.f, 4.f})}, c = mul(a, conj(b));
  EXPECT_EQ(c.re.text() + c.im.text(), "[5, -4][5, -8]");
  EXPECT_EQ(abs(Complex{Tensor({3.f, 0.f}), Tensor({4.f, 0.f})}).text(), "[5, 0]");
  EXPECT_EQ(fftshift(arange(5)).text() + ifftshift(fftshift(arange(5))).text(), "[3, 4, 0, 1, 2][0, 1, 2, 3, 4]");
  EXPECT_EQ(fftfreq(4, 0.5).text() + rfftfreq(4, 0.5).text(), "[0, 0.5, -1, -0.5][0, 0.5, 1]");
  EXPECT_EQ(fftfreq(5, 0.2).text(), "[0, 1, 2, -2, -1]");
}

/// By the definition: the signed products of a row each.
double determinantOf(const Array &m, std::vector<int64_t> columns, int64_t row = 0) {
  if (columns.empty()) return 1;
  double sum = 0;
  for (size_t k = 0; k < columns.size(); ++k) {
    std::vector<int64_t> rest = columns;
    rest.erase(rest.begin() + int64_t(k));
    sum += (k % 2 ? -1 : 1) * at(m, {row, columns[k]}) * determinantOf(m, rest, row + 1);
  }
  return sum;
}
Array matrixProduct(const Array &a, const Array &b) {
  return generate({a.shape[0], b.shape[1]}, [&](const Position &i) {
    double sum = 0;
    for (int64_t k = 0; k < a.shape[1]; ++k) sum += at(a, {i[0], k}) * at(b, {k, i[1]});
    return sum;
  });
}

TEST(LinearAlgebra, SolvesWhatWasMultiplied) {
  for (int64_t n : {1, 2, 5, 17}) {
    Array a = numbers({n, n}, 3), x = numbers({n, 2}, 4), b = matrixProduct(a, x);
    std::string name = std::to_string(n);
    check(
        "solve " + name, {tensorOf(a, DType::f64), tensorOf(b, DType::f64)}, [](Inputs v) { return solve(v[0], v[1]); },
        x, DType::f64, 1e-10);
    check(
        "inverse " + name, {tensorOf(a, DType::f64)}, [](Inputs v) { return matmul(inverse(v[0]), v[0]); },
        generate({n, n}, [](const Position &i) { return double(i[0] == i[1]); }), DType::f64, 1e-10);
    check(
        "solve f32 " + name, {tensorOf(a), tensorOf(b)}, [](Inputs v) { return solve(v[0], v[1]); }, x, DType::f32,
        2e-3);
  }
  // A zero on the diagonal wants an exchange of rows; batches broadcast.
  Tensor swap(std::vector<float>{0, 2, 4, 0, 1, 1, 0, 2}, {2, 2, 2});
  EXPECT_EQ(inverse(swap).text(), Tensor(std::vector<float>{0, 0.25, 0.5, 0, 1, -0.5, 0, 0.5}, {2, 2, 2}).text());
  EXPECT_EQ(solve(swap, Tensor({{2.f, 4.f}, {3.f, 2.f}})).text(), Tensor({{1.f, 1.f}, {2.f, 1.f}}).text());
  EXPECT_EQ(describe(solve(swap, ones({2, 3})).shape()), "[2, 2, 3]");
  EXPECT_EQ(solve(swap[0], Tensor({2.f, 4.f})).text(), "[1, 1]");
  EXPECT_EQ(inverse(Tensor({{2.f, 0.f}, {0.f, 4.f}}).to(DType::f16)).text(), "[[0.5, 0],\n [0, 0.25]]");
  std::string error = errorOf([] { inverse(Tensor({{1.f, 2.f}, {2.f, 4.f}})).wait(); });
  EXPECT_TRUE(has(error, "MatrixTest.cpp:" + std::to_string(__LINE__ - 1))) << error;
}

TEST(LinearAlgebra, Determinants) {
  for (int64_t n : {1, 2, 3, 6}) {
    Array a = numbers({n, n}, 7);
    std::vector<int64_t> columns;
    for (int64_t i = 0; i < n; ++i) columns.push_back(i);
    double want = determinantOf(a, columns);
    std::string name = std::to_string(n);
    check(
        "det " + name, {tensorOf(a, DType::f64)}, [](Inputs v) { return det(v[0]); }, {{}, {want}}, DType::f64, 1e-12);
    checkMany(
        "slogdet " + name, {tensorOf(a, DType::f64)},
        [](Inputs v) {
          SignLogDet s = slogdet(v[0]);
          return std::vector<Tensor>{s.sign, s.logAbsDet};
        },
        {{{{}, {want < 0 ? -1.0 : 1.0}}, DType::f64}, {{{}, {std::log(std::abs(want))}}, DType::f64}}, 1e-12);
  }
  Tensor singular(std::vector<float>{1, 2, 2, 4, 0, 1, 1, 0}, {2, 2, 2});
  EXPECT_EQ(det(singular).toVector<float>(), (std::vector<float>{0, -1}));
  EXPECT_EQ(slogdet(singular).sign.toVector<float>(), (std::vector<float>{0, -1}));
  EXPECT_EQ(slogdet(singular).logAbsDet.text(), "[-inf, 0]");
}

TEST(LinearAlgebra, Cholesky) {
  for (int64_t n : {1, 3, 8}) {
    Array l = generate({n, n}, [](const Position &i) {
      return i[0] < i[1] ? 0 : i[0] == i[1] ? 1.5 + double(i[0]) / 4 : std::sin(double(i[0] * 3 + i[1]));
    });
    Array a = matrixProduct(l, permuted(l, {1, 0}));
    check("cholesky", {tensorOf(a, DType::f64)}, [](Inputs v) { return cholesky(v[0]); }, l, DType::f64, 1e-12);
    check(
        "lower triangle", {tensorOf(a, DType::f64)}, [](Inputs v) { return cholesky(tril(v[0])); }, l, DType::f64,
        1e-12);
    Array x = numbers({n, 2}, 4);
    check(
        "choleskySolve", {tensorOf(matrixProduct(a, x), DType::f64), tensorOf(l, DType::f64)},
        [](Inputs v) { return choleskySolve(v[0], v[1]); }, x, DType::f64, 1e-10);
  }
  std::string error = errorOf([] { cholesky(Tensor({{1.f, 2.f}, {2.f, 1.f}})).wait(); });
  EXPECT_TRUE(has(error, "MatrixTest.cpp:" + std::to_string(__LINE__ - 1))) << error;
}

} // namespace
