#include "sprig/nn/convolution.h"
#include "lib/Frontend/Layers/LayerText.h"
#include "sprig/contract.h"
#include <cmath>

namespace sprig::nn {

namespace {

constexpr const char *kConvNames[] = {"Conv1d", "Conv2d", "Conv3d"};
constexpr const char *kTransposeNames[] = {"ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"};

void checkChannels(int64_t in, int64_t out, int64_t groups, const char *layer, Source at) {
  needPositive(in, layer, "the number of input channels", at);
  needPositive(out, layer, "the number of output channels", at);
  needPositive(groups, layer, "the number of groups", at);
  if (in % groups || out % groups)
    frontend::fail(at, layer,
                   std::to_string(in) + " input and " + std::to_string(out) + " output channels do not divide into " +
                       std::to_string(groups) + " groups");
}

/// Both as PyTorch initialises them: within ± 1 / sqrt(fan in), which is size 1 of the weight times its window.
struct Start {
  Initializer weight = [](const TensorType &type) {
    return init::kaimingUniform(type, std::sqrt(5.0), init::Fan::in, init::Nonlinearity::leakyRelu, Source());
  };
  Initializer bias;
  explicit Start(const Shape &shape) {
    double fanIn = 1;
    for (int i = 1; i < shape.rank(); ++i) fanIn *= double(shape[i]);
    bias = [bound = 1 / std::sqrt(fanIn)](const TensorType &type) {
      return init::uniform(type, -bound, bound, Source());
    };
  }
};

/// "kernel_size=(3, 3), stride=(1, 1)" and what differs from the default.
std::string windowText(const Shape &weight, const Shape &stride, const Shape &padding) {
  std::string text = "kernel_size=" + tupleText(Shape(weight.data() + 2, size_t(weight.rank() - 2)));
  text += ", stride=" + tupleText(stride);
  for (int64_t amount : padding)
    if (amount) return text + ", padding=" + tupleText(padding);
  return text;
}

bool allAre(const Shape &values, int64_t number) {
  for (int64_t value : values)
    if (value != number) return false;
  return true;
}

/// The window becomes a part of the weight's shape, and of the options each has one number of every axis.
template <typename Options>
void takeWindow(int axes, const Ints &window, Options &options, Shape &shape, const char *layer, Source at) {
  for (int64_t size : perAxis(window, axes, layer, "the window", at)) {
    needPositive(size, layer, "the window", at);
    shape.push_back(size);
  }
  options.stride = perAxis(options.stride, axes, layer, "the stride", at);
  options.padding = perAxis(options.padding, axes, layer, "the padding", at);
  options.dilation = perAxis(options.dilation, axes, layer, "the dilation", at);
}

constexpr const char *kModes[] = {"zeros", "reflect", "replicate", "circular"};

} // namespace

Conv::Conv(int axes, int64_t in, int64_t out, const Ints &window, const ConvOptions &given, Source at)
    : axes(axes), options(given) {
  const char *layer = kConvNames[axes - 1];
  checkChannels(in, out, options.groups, layer, at);
  Shape shape = {out, in / options.groups};
  takeWindow(axes, window, options, shape, layer, at);
  if (options.samePadding && !allAre(options.stride, 1))
    frontend::fail(at, layer, "padding to the same size wants a stride of 1, it is " + tupleText(options.stride));
  Start start(shape);
  weight = addParameter("weight", shape, start.weight, at);
  bias = addOptional(*this, options.bias, "bias", {out}, start.bias, at);
}

Tensor Conv::operator()(const Operand &x) const {
  InLayer in(scope());
  Operand w = need(weight, *this, x);
  sprig::ConvOptions form{options.stride, options.padding, options.dilation, options.groups};
  Operand input = quantizedInput(*this, x);
  // What the convolution's own padding cannot do is done before it: other modes, and an odd number of elements.
  std::vector<int64_t> amounts;
  bool apart = options.paddingMode != Padding::constant;
  for (int i = axes - 1; i >= 0; --i) {
    int64_t total = options.samePadding ? options.dilation[i] * (w.tensor.shape()[i + 2] - 1) : 2 * options.padding[i];
    amounts.push_back(total / 2);
    amounts.push_back(total - total / 2);
    form.padding[i] = total / 2;
    apart |= total % 2 != 0;
  }
  if (apart) {
    input = with(pad(input, amounts, options.paddingMode), x);
    form.padding = 0;
  }
  auto conv = axes == 1 ? conv1d : axes == 2 ? conv2d : conv3d;
  return hooked(x, conv(input, w, with(bias, x), form));
}

std::string Conv::extra() const {
  const Shape shape = weightShape(weight, *this);
  if (shape.empty()) return "";
  std::string text = std::to_string(shape[1] * options.groups) + ", " + std::to_string(shape[0]) + ", " +
                     windowText(shape, options.stride, options.padding);
  if (options.samePadding) text += ", padding=same";
  if (!allAre(options.dilation, 1)) text += ", dilation=" + tupleText(options.dilation);
  if (options.groups != 1) text += ", groups=" + std::to_string(options.groups);
  if (!options.bias) text += ", bias=False";
  if (options.paddingMode != Padding::constant)
    text += std::string(", padding_mode=") + kModes[int(options.paddingMode)];
  return text;
}

ConvTranspose::ConvTranspose(int axes, int64_t in, int64_t out, const Ints &window, const ConvTransposeOptions &given,
                             Source at)
    : axes(axes), options(given) {
  const char *layer = kTransposeNames[axes - 1];
  checkChannels(in, out, options.groups, layer, at);
  Shape shape = {in, out / options.groups};
  takeWindow(axes, window, options, shape, layer, at);
  options.outputPadding = perAxis(options.outputPadding, axes, layer, "the output padding", at);
  Start start(shape);
  weight = addParameter("weight", shape, start.weight, at);
  bias = addOptional(*this, options.bias, "bias", {out}, start.bias, at);
}

Tensor ConvTranspose::operator()(const Operand &x) const {
  InLayer in(scope());
  Operand w = need(weight, *this, x);
  sprig::ConvTransposeOptions form{options.stride, options.padding, options.outputPadding, options.groups,
                                   options.dilation};
  auto conv = axes == 1 ? convTranspose1d : axes == 2 ? convTranspose2d : convTranspose3d;
  return hooked(x, conv(quantizedInput(*this, x), w, with(bias, x), form));
}

std::string ConvTranspose::extra() const {
  const Shape shape = weightShape(weight, *this);
  if (shape.empty()) return "";
  std::string text = std::to_string(shape[0]) + ", " + std::to_string(shape[1] * options.groups) + ", " +
                     windowText(shape, options.stride, options.padding);
  if (!allAre(options.outputPadding, 0)) text += ", output_padding=" + tupleText(options.outputPadding);
  if (!allAre(options.dilation, 1)) text += ", dilation=" + tupleText(options.dilation);
  if (options.groups != 1) text += ", groups=" + std::to_string(options.groups);
  if (!options.bias) text += ", bias=False";
  return text;
}

} // namespace sprig::nn
