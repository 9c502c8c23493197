#include "lib/Frontend/Ops/Fourier.h"
#include <cmath>
#include <functional>

namespace sprig::frontend {

namespace {

/// Up to here one product with the whole matrix; longer ones are split, or become convolutions where they are prime.
constexpr int64_t kDirect = 64;
constexpr double kTwoPi = 6.283185307179586476925286766559;

const Shape &shapeOf(const Emitter &r, const Complex &x) { return x.re.type(r.at).shape; }

Complex reshaped(const Emitter &r, const Complex &x, const Shape &shape) {
  return {r.reshape(x.re, shape), x.im.defined() ? r.reshape(x.im, shape) : Tensor()};
}
Complex transposedParts(const Emitter &r, const Complex &x, const Shape &order) {
  return {r.transpose(x.re, order), x.im.defined() ? r.transpose(x.im, order) : Tensor()};
}

/// A constant of cos and sin of sign 2 pi turns(i).
Complex circle(const Emitter &r, const Shape &shape, DType type, int sign,
               const std::function<double(int64_t)> &turns) {
  std::vector<double> re, im;
  for (int64_t i = 0; i < shape.elements(); ++i) {
    double angle = kTwoPi * turns(i);
    re.push_back(std::cos(angle));
    im.push_back(sign * std::sin(angle));
  }
  auto constant = [&](const std::vector<double> &values) {
    return r.cast(unplaced(Tensor::from(values, shape, r.at)), type);
  };
  return {constant(re), constant(im)};
}

/// The product of complex elements.
Complex times(const Emitter &r, const Complex &x, const Complex &y) {
  if (!x.im.defined()) return {r.mul(x.re, y.re), r.mul(x.re, y.im)};
  return {r.sub(r.mul(x.re, y.re), r.mul(x.im, y.im)), r.add(r.mul(x.re, y.im), r.mul(x.im, y.re))};
}

Complex direct(const Emitter &r, const Complex &x, int64_t n, int sign) {
  Complex m = circle(r, {n, n}, x.re.type(r.at).dtype, sign, [n](int64_t i) {
    return double(i / n * (i % n) % n) / double(n); // reduced, so that long turns are exact
  });
  Complex result{r.matmul(x.re, m.re), r.matmul(x.re, m.im)};
  if (!x.im.defined()) return result;
  return {r.sub(result.re, r.matmul(x.im, m.im)), r.add(result.im, r.matmul(x.im, m.re))};
}

/// The divisor of n nearest below its root; 1 of a prime.
int64_t splitOf(int64_t n) {
  int64_t best = 1;
  for (int64_t d = 2; d * d <= n; ++d)
    if (n % d == 0) best = d;
  return best;
}

/// Cooley and Tukey (Math. Comp. 19, 1965) for n = a b: with j = j1 b + j2 and k = k1 + k2 a, transforms of length a
/// over j1, a turn by j2 k1 / n, transforms of length b over j2.
Complex split(const Emitter &r, const Complex &x, int64_t a, int64_t b, int sign) {
  int64_t rows = shapeOf(r, x)[0], n = a * b;
  Complex inner = transposedParts(r, reshaped(r, x, {rows, a, b}), {0, 2, 1});
  inner = reshaped(r, transformRows(r, reshaped(r, inner, {rows * b, a}), sign), {rows, b, a}); // [r, j2, k1]
  inner = times(r, inner, circle(r, {b, a}, x.re.type(r.at).dtype, sign, [=](int64_t i) {
                  return double(i / a * (i % a)) / double(n);
                }));
  Complex outer = reshaped(r, transposedParts(r, inner, {0, 2, 1}), {rows * a, b});
  outer = reshaped(r, transformRows(r, outer, sign), {rows, a, b}); // [r, k1, k2]
  return reshaped(r, transposedParts(r, outer, {0, 2, 1}), {rows, n});
}

/// Bluestein's form for a prime n: j k = (j^2 + k^2 - (k - j)^2) / 2, so a convolution with a chirp, by transforms of a
/// power of two.
Complex chirped(const Emitter &r, const Complex &x, int64_t n, int sign) {
  int64_t m = 1;
  while (m < 2 * n - 1) m *= 2;
  DType type = x.re.type(r.at).dtype;
  auto half = [n](int64_t j) { return double(j * j % (2 * n)) / double(2 * n); };
  Complex chirp = circle(r, {n}, type, sign, half);
  Complex padded = times(r, x, chirp);
  auto pad = [&](const Tensor &part) { return r.pad("pad_mode constant", part, 0, {0, 0}, {0, m - n}); };
  Complex spectrum = transformRows(r, {pad(padded.re), pad(padded.im)}, -1);
  // The chirp's conjugate, at -(n - 1) to n - 1 around the circle; zero between, where nothing is read.
  Complex around = circle(r, {1, m}, type, -sign, [=](int64_t i) {
    int64_t away = std::min(i, m - i);
    return away < n ? half(away) : 0;
  });
  std::vector<double> isThere;
  for (int64_t i = 0; i < m; ++i) isThere.push_back(std::min(i, m - i) < n);
  Tensor mask = r.cast(unplaced(Tensor::from(isThere, Shape{1, m}, r.at)), type);
  Complex kernel = transformRows(r, {r.mul(around.re, mask), r.mul(around.im, mask)}, -1);
  Complex back = transformRows(r, times(r, spectrum, kernel), 1);
  auto cut = [&](const Tensor &part) {
    Tensor first = r.part(part, 1, 0, n);
    return r.mul(first, r.number(1 / double(m), first));
  };
  return times(r, {cut(back.re), cut(back.im)}, chirp);
}

} // namespace

Complex transformRows(const Emitter &r, const Complex &x, int sign) {
  int64_t n = shapeOf(r, x)[1];
  if (n <= kDirect) return direct(r, x, n, sign);
  int64_t a = splitOf(n);
  return a > 1 ? split(r, x, a, n / a, sign) : chirped(r, x, n, sign);
}

} // namespace sprig::frontend
