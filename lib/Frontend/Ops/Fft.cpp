// Fourier transforms along any axis, of any length, in every normalisation; complex arithmetic.
#include "sprig/fft.h"
#include "lib/Frontend/Ops/Fourier.h"
#include "sprig/elementwise.h"
#include "sprig/shape_ops.h"
#include <cmath>

namespace sprig {

using frontend::Emitter;

namespace {

const TensorType &typeOf(const Emitter &r, const Complex &x) {
  const TensorType &re = r.typeOf(x.re, "real part"), &im = r.typeOf(x.im, "imaginary part");
  if (re != im) r.fail("has a real part " + describe(re) + " and an imaginary part " + describe(im));
  if (re.dtype != DType::f32 && re.dtype != DType::f64) r.fail("takes parts of f32 or f64, got " + describe(re));
  return re;
}

/// A real operand in f32 or f64.
Complex realOf(const Emitter &r, const Operand &x) {
  Tensor re = r.floatOf(x);
  const TensorType &type = re.type(r.at);
  if (size(type.dtype) < 4) r.fail("takes f32 or f64, got " + describe(type) + "; convert it with to(DType::f32)");
  return {re, {}};
}

template <typename F> Complex each(const Complex &x, F f) { return {f(x.re), x.im.defined() ? f(x.im) : Tensor()}; }

/// `length` elements along the axis: cut, or zeros at the end.
Tensor fitted(const Emitter &r, const Tensor &x, int axis, int64_t length) {
  const Shape &shape = x.type(r.at).shape;
  if (shape[axis] >= length) return r.part(x, axis, 0, length);
  Shape low, high;
  for (int i = 0; i < shape.rank(); ++i) {
    low.push_back(0);
    high.push_back(i == axis ? length - shape[axis] : 0);
  }
  return r.pad("pad_mode constant", x, 0, low, high);
}

/// The last axis in the axis's place, or the axis last; both are their own way back.
Complex exchanged(const Emitter &r, const Complex &x, int axis) {
  Shape order;
  int last = x.re.type(r.at).shape.rank() - 1;
  for (int i = 0; i <= last; ++i) order.push_back(i == axis ? last : i == last ? axis : i);
  return each(x, [&](const Tensor &part) { return r.transpose(part, order); });
}

int64_t lengthOf(const Emitter &r, const TensorType &type, int axis, int64_t n, int64_t own) {
  if (n < 0) r.fail("has length " + std::to_string(n));
  int64_t length = n ? n : own;
  if (length < 1 || type.shape[axis] < 1)
    r.fail("transforms " + std::to_string(std::min(length, type.shape[axis])) + " elements of axis " +
           std::to_string(axis) + " of " + describe(type));
  r.checkTable(length);
  return length;
}

/// The transform of `length` elements along an axis.
Complex transformed(const Emitter &r, const Complex &x, int axis, int64_t length, FftNorm norm, bool isBack) {
  Complex moved = exchanged(r, each(x, [&](const Tensor &part) { return fitted(r, part, axis, length); }), axis);
  const Shape shape = moved.re.type(r.at).shape;
  int64_t rows = 1;
  for (int i = 0; i + 1 < shape.rank(); ++i) rows *= shape[i];
  Complex flat = each(moved, [&](const Tensor &part) { return r.reshape(part, {rows, length}); });
  Complex result = frontend::transformRows(r, flat, isBack ? 1 : -1);
  double scale = norm == FftNorm::ortho                  ? 1 / std::sqrt(double(length))
                 : (norm == FftNorm::backward) == isBack ? 1 / double(length)
                                                         : 1;
  result = each(result, [&](const Tensor &part) {
    return r.reshape(scale == 1 ? part : r.mul(part, r.number(scale, part)), shape);
  });
  return exchanged(r, result, axis);
}

Complex along(const Emitter &r, const Complex &x, int64_t n, int64_t givenAxis, FftNorm norm, bool isBack) {
  const TensorType &type = x.re.type(r.at);
  int axis = r.axisOf(givenAxis, type);
  return transformed(r, x, axis, lengthOf(r, type, axis, n, type.shape[axis]), norm, isBack);
}

Complex oneSided(const Emitter &r, const Complex &x, int64_t n, int64_t givenAxis, FftNorm norm) {
  Complex whole = along(r, x, n, givenAxis, norm, false);
  int axis = r.axisOf(givenAxis, whole.re.type(r.at));
  int64_t length = whole.re.type(r.at).shape[axis];
  return each(whole, [&](const Tensor &part) { return r.part(part, axis, 0, length / 2 + 1); });
}

/// The real numbers of a one-sided spectrum.
Tensor fromOneSided(const Emitter &r, const Complex &x, int64_t n, int64_t givenAxis, FftNorm norm) {
  const TensorType type = x.re.type(r.at);
  int axis = r.axisOf(givenAxis, type);
  int64_t length = lengthOf(r, type, axis, n, 2 * (type.shape[axis] - 1)), bins = length / 2 + 1;
  auto whole = [&](const Tensor &part, bool isImaginary) {
    Tensor given = fitted(r, part, axis, bins);
    int64_t inner = (length - 1) / 2; // elements that stand for two
    std::vector<Tensor> parts;
    auto zero = [&] {
      Tensor first = r.part(given, axis, 0, 1);
      return frontend::splat(0, first.type(r.at), r.at);
    };
    parts.push_back(isImaginary ? zero() : r.part(given, axis, 0, 1));
    if (inner > 0) parts.push_back(r.part(given, axis, 1, inner));
    if (length % 2 == 0) parts.push_back(isImaginary ? zero() : r.part(given, axis, bins - 1, 1));
    if (inner > 0) {
      Tensor mirrored = inner > 1 ? r.part(given, axis, inner, inner, -1) : r.part(given, axis, 1, 1);
      parts.push_back(isImaginary ? r.neg(mirrored) : mirrored);
    }
    return r.concat(parts, axis);
  };
  return transformed(r, {whole(x.re, false), whole(x.im, true)}, axis, length, norm, true).re;
}

const TensorType &requireImages(const Emitter &r, const TensorType &type) {
  if (type.shape.rank() < 2) r.fail("transforms the last two axes, got " + describe(type));
  return type;
}

} // namespace

Complex add(const Complex &a, const Complex &b, Source at) {
  Emitter r("add", at);
  if (typeOf(r, a).dtype != typeOf(r, b).dtype)
    r.fail("adds " + describe(a.re.type(at)) + " to " + describe(b.re.type(at)));
  return {r.add(a.re, b.re), r.add(a.im, b.im)};
}
Complex sub(const Complex &a, const Complex &b, Source at) {
  Emitter r("sub", at);
  if (typeOf(r, a).dtype != typeOf(r, b).dtype)
    r.fail("takes " + describe(b.re.type(at)) + " from " + describe(a.re.type(at)));
  return {r.sub(a.re, b.re), r.sub(a.im, b.im)};
}
Complex mul(const Complex &a, const Complex &b, Source at) {
  Emitter r("mul", at);
  if (typeOf(r, a).dtype != typeOf(r, b).dtype)
    r.fail("multiplies " + describe(a.re.type(at)) + " by " + describe(b.re.type(at)));
  return {r.sub(r.mul(a.re, b.re), r.mul(a.im, b.im)), r.add(r.mul(a.re, b.im), r.mul(a.im, b.re))};
}
Complex conj(const Complex &x, Source at) {
  Emitter r("conj", at);
  typeOf(r, x);
  return {x.re, r.neg(x.im)};
}
Tensor abs(const Complex &x, Source at) {
  Emitter r("abs", at);
  typeOf(r, x);
  Tensor square = r.add(r.mul(x.re, x.re), r.mul(x.im, x.im));
  Tensor isZero = r.compare("predicate eq", square, r.number(0, square));
  return r.select(isZero, r.number(0, square), r.sqrt(r.select(isZero, r.number(1, square), square)));
}
Tensor angle(const Complex &x, Source at) {
  typeOf(Emitter("angle", at), x);
  return atan2({x.im, at}, {x.re, at});
}

Complex fft(const Operand &x, const FftOptions &options) {
  Emitter r("fft", x.at);
  return along(r, realOf(r, x), options.n, options.axis, options.norm, false);
}
Complex fft(const Complex &x, const FftOptions &options, Source at) {
  Emitter r("fft", at);
  typeOf(r, x);
  return along(r, x, options.n, options.axis, options.norm, false);
}
Complex ifft(const Complex &x, const FftOptions &options, Source at) {
  Emitter r("ifft", at);
  typeOf(r, x);
  return along(r, x, options.n, options.axis, options.norm, true);
}
Complex rfft(const Operand &x, const FftOptions &options) {
  Emitter r("rfft", x.at);
  return oneSided(r, realOf(r, x), options.n, options.axis, options.norm);
}
Tensor irfft(const Complex &x, const FftOptions &options, Source at) {
  Emitter r("irfft", at);
  typeOf(r, x);
  return fromOneSided(r, x, options.n, options.axis, options.norm);
}

Complex fft2(const Operand &x, FftNorm norm) {
  Emitter r("fft2", x.at);
  Complex real = realOf(r, x);
  requireImages(r, real.re.type(r.at));
  return along(r, along(r, real, 0, -1, norm, false), 0, -2, norm, false);
}
Complex fft2(const Complex &x, FftNorm norm, Source at) {
  Emitter r("fft2", at);
  requireImages(r, typeOf(r, x));
  return along(r, along(r, x, 0, -1, norm, false), 0, -2, norm, false);
}
Complex ifft2(const Complex &x, FftNorm norm, Source at) {
  Emitter r("ifft2", at);
  requireImages(r, typeOf(r, x));
  return along(r, along(r, x, 0, -1, norm, true), 0, -2, norm, true);
}
Complex rfft2(const Operand &x, FftNorm norm) {
  Emitter r("rfft2", x.at);
  Complex real = realOf(r, x);
  requireImages(r, real.re.type(r.at));
  return along(r, oneSided(r, real, 0, -1, norm), 0, -2, norm, false);
}
Tensor irfft2(const Complex &x, int64_t columns, FftNorm norm, Source at) {
  Emitter r("irfft2", at);
  requireImages(r, typeOf(r, x));
  return fromOneSided(r, along(r, x, 0, -2, norm, true), columns, -1, norm);
}

namespace {
Tensor shifted(const char *op, const Operand &x, const Ints &axes, bool isBack) {
  Emitter r(op, x.at);
  Tensor result = r.tensorOf(x);
  for (int64_t axis : r.axesOf(axes, result.type(r.at))) {
    int64_t n = result.type(r.at).shape[int(axis)], half = isBack ? n - n / 2 : n / 2;
    result = roll({result, r.at}, half, int(axis));
  }
  return result;
}

Tensor frequencies(const char *op, int64_t n, int64_t count, double d, DType type, Source at) {
  Emitter r(op, at);
  if (n < 1 || !(d != 0) || !std::isfinite(d))
    r.fail("has " + std::to_string(n) + " elements at a distance of " + frontend::realText(d));
  if (!isFloat(type)) r.fail("gives floats, not " + std::string(name(type)));
  r.checkTable(count);
  std::vector<double> values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(double(i < (n + 1) / 2 || count < n ? i : i - n) / (double(n) * d));
  return r.cast(Tensor::from(values, {count}, at), type);
}
} // namespace

Tensor fftshift(const Operand &x, const Ints &axes) { return shifted("fftshift", x, axes, false); }
Tensor ifftshift(const Operand &x, const Ints &axes) { return shifted("ifftshift", x, axes, true); }
Tensor fftfreq(int64_t n, double d, DType type, Source at) { return frequencies("fftfreq", n, n, d, type, at); }
Tensor rfftfreq(int64_t n, double d, DType type, Source at) {
  return frequencies("rfftfreq", n, n / 2 + 1, d, type, at);
}

} // namespace sprig
