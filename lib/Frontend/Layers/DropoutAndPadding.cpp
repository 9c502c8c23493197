#include "lib/Frontend/Layers/LayerText.h"
#include "sprig/functional.h"
#include "sprig/nn/dropout.h"
#include "sprig/nn/padding.h"

namespace sprig::nn {

Dropout::Dropout(double p, Source at) : p(p) {
  if (!(p >= 0 && p <= 1)) frontend::fail(at, "Dropout", "the probability is " + realText(p) + ", outside of [0, 1]");
}

Tensor Dropout::operator()(const Operand &x) const {
  InLayer in(scope());
  return hooked(x, dropout(x, p, isTraining()));
}
std::string Dropout::extra() const { return "p=" + realText(p); }

Tensor DropoutChannels::operator()(const Operand &x) const {
  InLayer in(scope());
  return hooked(x, dropoutChannels(x, p, isTraining()));
}

Pad::Pad(int axes, Padding mode, const Ints &given, double value, Source at) : mode(mode), value(value) {
  if (given.rank() == 1)
    amounts.assign(size_t(2 * axes), given[0]);
  else if (given.rank() == 2 * axes)
    amounts = given.vector();
  else
    frontend::fail(at, "Pad",
                   "one amount or " + std::to_string(2 * axes) + " are wanted, " + std::to_string(given.rank()) +
                       " are given");
}

Tensor Pad::operator()(const Operand &x) const {
  InLayer in(scope());
  return hooked(x, pad(x, amounts, mode, value));
}

std::string Pad::extra() const {
  std::string text = "padding=" + tupleText(Shape(amounts));
  return value == 0 ? text : text + ", value=" + realText(value);
}

Tensor Upsample::operator()(const Operand &x) const {
  InLayer in(scope());
  return hooked(x, interpolate(x, options));
}

std::string Upsample::extra() const {
  static constexpr const char *kModes[] = {"nearest", "linear", "bilinear", "trilinear", "area"};
  std::string text;
  if (!options.size.empty()) {
    text = "size=" + intsText(options.size);
  } else {
    text = "scale_factor=";
    if (options.scale.size() != 1) text += "(";
    for (size_t i = 0; i < options.scale.size(); ++i) text += (i ? ", " : "") + realText(options.scale[i]);
    if (options.scale.size() != 1) text += ")";
  }
  return text + ", mode='" + kModes[int(options.mode)] + "'";
}

Tensor PixelShuffle::operator()(const Operand &x) const {
  InLayer in(scope());
  return hooked(x, pixelShuffle(x, factor));
}
std::string PixelShuffle::extra() const { return "upscale_factor=" + std::to_string(factor); }

Tensor PixelUnshuffle::operator()(const Operand &x) const {
  InLayer in(scope());
  return hooked(x, pixelUnshuffle(x, factor));
}
std::string PixelUnshuffle::extra() const { return "downscale_factor=" + std::to_string(factor); }

} // namespace sprig::nn
