// Convolutions and transposed convolutions over one to three spatial axes.
#include "lib/Frontend/Ops/Windows.h"
#include "sprig/contract.h"

namespace sprig {

using frontend::Attr;
using frontend::Batched;
using frontend::Emitter;
using frontend::perAxis;
using frontend::Windows;

namespace {
Tensor withBias(const Emitter &r, const Tensor &result, const Operand &bias) {
  const TensorType &type = result.type(r.at);
  Tensor addend = r.optional(bias, type.dtype, "bias");
  if (!addend.defined()) return result;
  int64_t channels = type.shape[1];
  if (addend.type(r.at).shape != Shape{channels})
    r.fail("adds bias " + describe(addend.type(r.at)) + " to " + std::to_string(channels) + " channels");
  Shape perChannel{1, channels};
  while (perChannel.rank() < type.shape.rank()) perChannel.push_back(1);
  return r.add(result, r.reshape(addend, perChannel));
}

/// What both directions ask of input and weight.
const TensorType &checkedWeight(const Emitter &r, const TensorType &input, const Operand &weight, int spatial,
                                int64_t groups, const char *layout) {
  const TensorType &w = r.typeOf(weight.tensor, "weight");
  if (w.dtype != input.dtype)
    r.fail("takes input and weight of one type, got " + describe(input) + " and " + describe(w));
  if (input.dtype == DType::boolean) r.fail("takes numbers, got " + describe(input));
  if (w.shape.rank() != spatial + 2)
    r.fail("takes a weight " + std::string(layout) + " of rank " + std::to_string(spatial + 2) + ", got " +
           describe(w) + " for input " + describe(input));
  if (groups < 1 || input.shape[1] % groups)
    r.fail("splits the " + std::to_string(input.shape[1]) + " channels of " + describe(input) + " into " +
           std::to_string(groups) + " groups");
  return w;
}

/// Windows that give as many outputs as there are inputs.
Windows sameWindows(const Emitter &r, const Shape &spatial, const Shape &window, const ConvOptions &options) {
  int count = spatial.rank();
  Windows w{window,
            perAxis(r, options.stride, count, 1, "stride"),
            perAxis(r, options.dilation, count, 1, "dilation"),
            {},
            spatial};
  for (int64_t amount : perAxis(r, options.padding, count, 0, "padding"))
    if (amount) r.fail("has padding " + std::to_string(amount) + " beside the one that keeps the sizes");
  Shape high;
  for (int i = 0; i < count; ++i) {
    if (w.strides[i] != 1)
      r.fail("has stride " + std::to_string(w.strides[i]) +
             " and padding that keeps the sizes; expected a stride of 1");
    if (window[i] < 1 || window[i] > int64_t(1) << 30) r.fail("has a window of " + std::to_string(window[i]));
    int64_t total = w.dilations[i] * (window[i] - 1);
    w.padding.push_back(total / 2);
    high.push_back(total - total / 2);
  }
  for (int64_t amount : high) w.padding.push_back(amount);
  return w;
}

Tensor convolve(const char *op, int spatial, const Operand &x, const Operand &weight, const Operand &bias,
                const ConvOptions &options) {
  Emitter r(op, x.at.line ? x.at : weight.at);
  Batched batch = Batched::of(r, x, spatial);
  const TensorType input = batch.input.type(r.at);
  int64_t groups = options.groups;
  const TensorType &w = checkedWeight(r, input, weight, spatial, groups, "[O, C/groups, window...]");
  if (w.shape[1] * groups != input.shape[1])
    r.fail("convolves the " + std::to_string(input.shape[1]) + " channels of " + describe(input) + " with " +
           std::to_string(w.shape[1] * groups) + " of weight " + describe(w) +
           (groups == 1 ? "" : " in " + std::to_string(groups) + " groups"));
  if (w.shape[0] % groups)
    r.fail("splits the " + std::to_string(w.shape[0]) + " output channels of weight " + describe(w) + " into " +
           std::to_string(groups) + " groups");
  const Shape sizes = batch.spatialShape(r), window(w.shape.data() + 2, size_t(spatial));
  Windows windows = options.samePadding ? sameWindows(r, sizes, window, options)
                                        : Windows::of(r, input, sizes, window, options.stride, options.padding,
                                                      options.dilation, false);
  TensorType result{input.dtype, {input.shape[0], w.shape[0]}};
  for (int64_t n : windows.outputs) result.shape.push_back(n);
  r.checkShape(result.shape);
  Tensor product = r.emit(SPRIG_OP("conv"), {batch.input, weight.tensor},
                          {Attr::of("strides", windows.strides), Attr::of("dilations", windows.dilations),
                           Attr::of("padding", windows.padding), Attr::of("groups", groups)},
                          result);
  return batch.finish(r, withBias(r, product, bias));
}

Tensor convolveBack(const char *op, int spatial, const Operand &x, const Operand &weight, const Operand &bias,
                    const ConvTransposeOptions &options) {
  Emitter r(op, x.at.line ? x.at : weight.at);
  Batched batch = Batched::of(r, x, spatial);
  const TensorType input = batch.input.type(r.at);
  int64_t groups = options.groups;
  const TensorType &w = checkedWeight(r, input, weight, spatial, groups, "[C, O/groups, window...]");
  if (w.shape[0] != input.shape[1])
    r.fail("convolves the " + std::to_string(input.shape[1]) + " channels of " + describe(input) + " with " +
           std::to_string(w.shape[0]) + " of weight " + describe(w));
  Shape strides = perAxis(r, options.stride, spatial, 1, "stride");
  Shape dilations = perAxis(r, options.dilation, spatial, 1, "dilation");
  Shape low = perAxis(r, options.padding, spatial, 0, "padding");
  Shape extra = perAxis(r, options.outputPadding, spatial, 0, "output padding");
  TensorType result{input.dtype, {input.shape[0], w.shape[1] * groups}};
  for (int i = 0; i < spatial; ++i) {
    int64_t in = input.shape[2 + i], window = w.shape[2 + i];
    if (extra[i] >= std::max(strides[i], dilations[i]))
      r.fail("has output padding " + std::to_string(extra[i]) + ", which must be smaller than the stride " +
             std::to_string(strides[i]) + " or the dilation " + std::to_string(dilations[i]));
    if (in > int64_t(1) << 30 || window > int64_t(1) << 30 || window < 1)
      r.fail("slides weight " + describe(w) + " over " + describe(input));
    int64_t full = (in - 1) * strides[i] + (window - 1) * dilations[i] + 1 + extra[i];
    if (full - 2 * low[i] < 1)
      r.fail("crops " + std::to_string(2 * low[i]) + " of " + std::to_string(full) + " elements of spatial axis " +
             std::to_string(i) + " of " + describe(input));
    result.shape.push_back(full - 2 * low[i]);
  }
  r.checkShape(result.shape);
  Shape padding = low;
  for (int64_t amount : low) padding.push_back(amount);
  Tensor product = r.emit(SPRIG_OP("conv_transpose"), {batch.input, weight.tensor},
                          {Attr::of("strides", strides), Attr::of("dilations", dilations), Attr::of("padding", padding),
                           Attr::of("output_padding", extra), Attr::of("groups", groups)},
                          result);
  return batch.finish(r, withBias(r, product, bias));
}
} // namespace

Tensor conv1d(const Operand &x, const Operand &weight, const Operand &bias, const ConvOptions &options) {
  return convolve("conv1d", 1, x, weight, bias, options);
}
Tensor conv2d(const Operand &x, const Operand &weight, const Operand &bias, const ConvOptions &options) {
  return convolve("conv2d", 2, x, weight, bias, options);
}
Tensor conv3d(const Operand &x, const Operand &weight, const Operand &bias, const ConvOptions &options) {
  return convolve("conv3d", 3, x, weight, bias, options);
}
Tensor convTranspose1d(const Operand &x, const Operand &weight, const Operand &bias,
                       const ConvTransposeOptions &options) {
  return convolveBack("convTranspose1d", 1, x, weight, bias, options);
}
Tensor convTranspose2d(const Operand &x, const Operand &weight, const Operand &bias,
                       const ConvTransposeOptions &options) {
  return convolveBack("convTranspose2d", 2, x, weight, bias, options);
}
Tensor convTranspose3d(const Operand &x, const Operand &weight, const Operand &bias,
                       const ConvTransposeOptions &options) {
  return convolveBack("convTranspose3d", 3, x, weight, bias, options);
}

} // namespace sprig
