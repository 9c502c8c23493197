// Pools with windows of one size, and adaptive ones.
#include "lib/Frontend/Ops/Windows.h"
#include "sprig/functional.h"

namespace sprig {

using frontend::Attr;
using frontend::AttrList;
using frontend::Batched;
using frontend::Emitter;
using frontend::perAxis;
using frontend::Windows;

namespace {
TensorType pooledType(const TensorType &input, const Windows &windows) {
  TensorType result{input.dtype, {input.shape[0], input.shape[1]}};
  for (int64_t n : windows.outputs) result.shape.push_back(n);
  return result;
}

AttrList windowAttrs(const Windows &w) {
  return {Attr::of("window", w.window), Attr::of("strides", w.strides), Attr::of("dilations", w.dilations),
          Attr::of("padding", w.padding)};
}

/// PyTorch's rule: no window lies in the padding alone.
void checkPadding(const Emitter &r, const Shape &window, const Shape &padding) {
  for (int i = 0; i < window.rank(); ++i)
    if (padding[i] > window[i] / 2)
      r.fail("has padding " + std::to_string(padding[i]) + ", more than half of its window of " +
             std::to_string(window[i]));
}

Tensor maxOver(const Emitter &r, const Tensor &input, const Windows &windows) {
  AttrList attrs = windowAttrs(windows);
  attrs.push_back(Attr::word("kind", "reduce_kind max"));
  return r.emit(SPRIG_OP("pool"), {input}, std::move(attrs), pooledType(input.type(r.at), windows));
}

Tensor meanOver(const Emitter &r, const Tensor &input, const Windows &windows, const Shape &counted) {
  AttrList attrs = windowAttrs(windows);
  Shape ends = counted;
  for (int64_t amount : counted) ends.push_back(amount);
  attrs.push_back(Attr::of("counted_padding", ends));
  return r.emit(SPRIG_OP("avg_pool"), {input}, std::move(attrs), pooledType(input.type(r.at), windows));
}

Tensor maxPool(const char *op, int spatial, const Operand &x, const Ints &size, const MaxPoolOptions &options) {
  Emitter r(op, x.at);
  Batched batch = Batched::of(r, x, spatial);
  const TensorType &input = batch.input.type(r.at);
  if (input.dtype == DType::boolean) r.fail("takes numbers, got " + describe(input));
  Shape window = perAxis(r, size, spatial, 1, "window");
  checkPadding(r, window, perAxis(r, options.padding, spatial, 0, "padding"));
  Windows windows =
      Windows::of(r, input, batch.spatialShape(r), window, options.stride.empty() ? Ints(window) : options.stride,
                  options.padding, options.dilation, options.ceilMode);
  return batch.finish(r, maxOver(r, batch.input, windows));
}

Tensor avgPool(const char *op, int spatial, const Operand &x, const Ints &size, const AvgPoolOptions &options) {
  Emitter r(op, x.at);
  Batched batch = Batched::of(r, {r.requireFloat(x), r.at}, spatial);
  Shape window = perAxis(r, size, spatial, 1, "window"), padding = perAxis(r, options.padding, spatial, 0, "padding");
  checkPadding(r, window, padding);
  Windows windows =
      Windows::of(r, batch.input.type(r.at), batch.spatialShape(r), window,
                  options.stride.empty() ? Ints(window) : options.stride, options.padding, 1, options.ceilMode);
  Shape counted = padding;
  if (!options.countIncludePad)
    for (int i = 0; i < spatial; ++i) counted[i] = 0;
  return batch.finish(r, meanOver(r, batch.input, windows, counted));
}

/// Window i of an axis goes from floor(i * in / out) to ceil((i + 1) * in / out). Where all are of one size it is one
/// pool; else each axis by itself, position by position: windows are boxes, so the mean of means is the mean.
Tensor adaptivePool(const char *op, int spatial, const Operand &x, const Ints &size, bool isMax) {
  Emitter r(op, x.at);
  Batched batch = Batched::of(r, {isMax ? r.tensorOf(x, "input") : r.requireFloat(x), r.at}, spatial);
  const TensorType input = batch.input.type(r.at);
  if (input.dtype == DType::boolean) r.fail("takes numbers, got " + describe(input));
  Shape in = batch.spatialShape(r), out = perAxis(r, size, spatial, 1, "size");
  bool isEven = true, isGlobal = true;
  Shape window;
  for (int i = 0; i < spatial; ++i) {
    if (in[i] < 1) r.fail("pools " + describe(input) + ", which has no elements");
    isEven &= in[i] % out[i] == 0;
    isGlobal &= out[i] == 1;
    window.push_back(in[i] / out[i]);
  }
  if (in == out) return batch.finish(r, batch.input);
  auto over = [&](const Tensor &v, const Shape &axes) {
    return isMax ? r.reduce("reduce_kind max", v, axes, true) : r.mean(v, axes, true);
  };
  if (isGlobal) {
    Shape axes;
    for (int i = 0; i < spatial; ++i) axes.push_back(2 + i);
    return batch.finish(r, over(batch.input, axes));
  }
  if (isEven) {
    Windows windows = Windows::of(r, input, in, window, Ints(window), 0, 1, false);
    Shape none = window;
    for (int i = 0; i < spatial; ++i) none[i] = 0;
    return batch.finish(r, isMax ? maxOver(r, batch.input, windows) : meanOver(r, batch.input, windows, none));
  }
  Tensor result = batch.input;
  for (int i = 0; i < spatial; ++i) {
    if (in[i] == out[i]) continue;
    std::vector<Tensor> parts;
    for (int64_t k = 0; k < out[i]; ++k) {
      int64_t begin = k * in[i] / out[i], end = ((k + 1) * in[i] + out[i] - 1) / out[i];
      parts.push_back(over(r.part(result, 2 + i, begin, end - begin), {2 + i}));
    }
    result = r.concat(parts, 2 + i);
  }
  return batch.finish(r, result);
}
} // namespace

Tensor maxPool1d(const Operand &x, const Ints &window, const MaxPoolOptions &options) {
  return maxPool("maxPool1d", 1, x, window, options);
}
Tensor maxPool2d(const Operand &x, const Ints &window, const MaxPoolOptions &options) {
  return maxPool("maxPool2d", 2, x, window, options);
}
Tensor maxPool3d(const Operand &x, const Ints &window, const MaxPoolOptions &options) {
  return maxPool("maxPool3d", 3, x, window, options);
}
Tensor avgPool1d(const Operand &x, const Ints &window, const AvgPoolOptions &options) {
  return avgPool("avgPool1d", 1, x, window, options);
}
Tensor avgPool2d(const Operand &x, const Ints &window, const AvgPoolOptions &options) {
  return avgPool("avgPool2d", 2, x, window, options);
}
Tensor avgPool3d(const Operand &x, const Ints &window, const AvgPoolOptions &options) {
  return avgPool("avgPool3d", 3, x, window, options);
}
Tensor adaptiveAvgPool1d(const Operand &x, const Ints &size) {
  return adaptivePool("adaptiveAvgPool1d", 1, x, size, false);
}
Tensor adaptiveAvgPool2d(const Operand &x, const Ints &size) {
  return adaptivePool("adaptiveAvgPool2d", 2, x, size, false);
}
Tensor adaptiveAvgPool3d(const Operand &x, const Ints &size) {
  return adaptivePool("adaptiveAvgPool3d", 3, x, size, false);
}
Tensor adaptiveMaxPool1d(const Operand &x, const Ints &size) {
  return adaptivePool("adaptiveMaxPool1d", 1, x, size, true);
}
Tensor adaptiveMaxPool2d(const Operand &x, const Ints &size) {
  return adaptivePool("adaptiveMaxPool2d", 2, x, size, true);
}
Tensor adaptiveMaxPool3d(const Operand &x, const Ints &size) {
  return adaptivePool("adaptiveMaxPool3d", 3, x, size, true);
}

} // namespace sprig
