// Sliding windows as a dimension of their own, and their sum. Positions are computed, not kept: elements of a window
// and windows are affine in their indices.
#include "lib/Frontend/Ops/Indexing.h"
#include "lib/Frontend/Ops/Windows.h"
#include "sprig/shape_ops.h"

namespace sprig {

using frontend::Attr;
using frontend::Batched;
using frontend::Emitter;
using frontend::perAxis;
using frontend::Windows;

namespace {
constexpr int kSpatial = 2;

/// How windows lie over padded images.
struct Layout {
  Windows windows;
  Shape padded;      ///< height, width
  int64_t patch = 1; ///< elements of a window
  int64_t count = 1; ///< windows

  static Layout of(const Emitter &r, const TensorType &input, const Shape &spatial, const Ints &window,
                   const UnfoldOptions &options) {
    Layout l;
    l.windows = Windows::of(r, input, spatial, perAxis(r, window, kSpatial, 1, "window"), options.stride,
                            options.padding, options.dilation, false);
    for (int i = 0; i < kSpatial; ++i) {
      l.padded.push_back(spatial[i] + 2 * l.windows.padding[i]);
      l.patch *= l.windows.window[i];
      l.count *= l.windows.outputs[i];
    }
    r.checkShape({l.patch, l.count});
    return l;
  }

  /// [patch, count] (i64): the place in the padded image of each element of each window.
  Tensor positions(const Emitter &r) const {
    const Shape shape{windows.window[0], windows.window[1], windows.outputs[0], windows.outputs[1]};
    Tensor result;
    int64_t width = padded[1];
    for (int i = 0; i < kSpatial; ++i) {
      int64_t rows = i == 0 ? width : 1;
      for (auto [axis, step] : {std::pair(i, windows.dilations[i] * rows), {kSpatial + i, windows.strides[i] * rows}}) {
        Tensor along = r.mul(r.iota({DType::i64, shape}, axis), frontend::scalarInteger(step, DType::i64, r.at));
        result = result.defined() ? r.add(result, along) : along;
      }
    }
    return r.reshape(result, {patch, count});
  }
};
} // namespace

Tensor unfold(const Operand &x, const Ints &window, const UnfoldOptions &options) {
  Emitter r("unfold", x.at);
  Batched batch = Batched::of(r, x, kSpatial);
  const TensorType type = batch.input.type(r.at);
  Layout l = Layout::of(r, type, batch.spatialShape(r), window, options);
  const Shape &p = l.windows.padding;
  Tensor padded = batch.input;
  if (p[0] || p[1] || p[2] || p[3])
    padded = r.pad("pad_mode constant", padded, 0, {0, 0, p[0], p[1]}, {0, 0, p[2], p[3]});
  int64_t n = type.shape[0], channels = type.shape[1];
  Tensor flat = r.reshape(padded, {n, channels, l.padded.elements()});
  return batch.finish(r, r.reshape(r.gather(flat, l.positions(r), 2), {n, channels * l.patch, l.count}));
}

Tensor fold(const Operand &x, const Ints &size, const Ints &window, const UnfoldOptions &options) {
  Emitter r("fold", x.at);
  Batched batch = Batched::of(r, x, kSpatial - 1);
  const TensorType type = batch.input.type(r.at);
  Shape image = perAxis(r, size, kSpatial, 1, "size");
  Layout l = Layout::of(r, {type.dtype, {type.shape[0], type.shape[1], image[0], image[1]}}, image, window, options);
  if (type.dtype == DType::boolean) r.fail("adds numbers, got " + describe(type));
  if (type.shape[1] % l.patch || type.shape[2] != l.count)
    r.fail("joins windows " + describe(type) + " to images of " + describe(image) + "; it takes a multiple of " +
           std::to_string(l.patch) + " rows and " + std::to_string(l.count) + " windows");
  int64_t n = type.shape[0], channels = type.shape[1] / l.patch, rows = n * channels, places = l.patch * l.count;
  Tensor at = r.broadcastTo(r.reshape(l.positions(r), {1, places}), {rows, places});
  Tensor none = frontend::splat(0, {type.dtype, {rows, l.padded.elements()}}, r.at);
  Tensor sum = r.scatterElements("scatter_kind add", none, at, r.reshape(batch.input, {rows, places}), 1);
  Tensor images = r.reshape(sum, {n, channels, l.padded[0], l.padded[1]});
  for (int i = 0; i < kSpatial; ++i) images = r.part(images, 2 + i, l.windows.padding[i], image[i]);
  return batch.finish(r, images);
}

Tensor unfold(const Operand &x, int axis, int64_t size, int64_t step) {
  Emitter r("unfold", x.at);
  Tensor operand = r.tensorOf(x);
  const TensorType type = operand.type(r.at);
  int along = r.axisOf(axis, type);
  int64_t length = type.shape[along];
  if (size < 0 || size > length || step < 1)
    r.fail("takes windows of " + std::to_string(size) + " every " + std::to_string(step) + " of " +
           std::to_string(length) + " elements along axis " + std::to_string(along) + " of " + describe(type));
  int64_t count = (length - size) / step + 1;
  const TensorType each{DType::i64, {count, size}};
  Tensor at = r.add(r.mul(r.iota(each, 0), frontend::scalarInteger(step, DType::i64, r.at)), r.iota(each, 1));
  Tensor windows = r.gather(operand, at, along);
  Shape order;
  for (int i = 0; i <= type.shape.rank(); ++i)
    if (i != along + 1) order.push_back(i);
  order.push_back(along + 1);
  return r.transpose(windows, order);
}

} // namespace sprig
