// Quantisation-aware layers: what is quantised of them, and by which numbers.
#include "sprig/nn/quantize.h"
#include "lib/Frontend/Engine/BatchScope.h"
#include "lib/Frontend/Layers/LayerText.h"
#include "lib/Frontend/Layers/ModuleState.h"
#include "lib/Frontend/Layers/QuantizedWeight.h"
#include "sprig/grad.h"
#include "sprig/nn/convolution.h"
#include "sprig/nn/linear.h"
#include "sprig/ops.h"
#include <limits>

namespace sprig::nn {

using frontend::fail;

namespace {

constexpr const char *kQuantizer = "input_quantizer";

void checkBits(int bits, const char *layer, const char *what, Source at) {
  if (bits < 3 || bits > 8)
    fail(at, layer, std::string(what) + " has " + std::to_string(bits) + " bits, expected 3 to 8");
}

/// Zeros, and what is too small for a scale of numbers of the type, take any: 1.
Tensor usableScale(const Tensor &scale, DType type, Source at) {
  double least = type == DType::f64   ? std::numeric_limits<double>::min()
                 : type == DType::f16 ? 0x1p-14
                                      : double(std::numeric_limits<float>::min());
  Tensor isTooSmall = lt({scale, at}, Operand(least, at)); // no NaN is
  return where({isTooSmall, at}, Operand(1.0, at), {scale, at});
}

bool isQuantizable(const Module &layer) {
  return dynamic_cast<const Linear *>(&layer) || dynamic_cast<const Conv *>(&layer) ||
         dynamic_cast<const ConvTranspose *>(&layer);
}

} // namespace

Tensor quantizedWeight(const Tensor &weight, int axis, int bits, Source at) {
  Shape others;
  for (int i = 0; i < weight.rank(); ++i)
    if (i != axis) others.push_back(i);
  int64_t most = (int64_t(1) << (bits - 1)) - 1;
  Tensor size = abs({stopGradient({weight, at}), at});
  Tensor largest = others.empty() ? size : max({size, at}, others, /*keepDims=*/true);
  Tensor scale = usableScale(div({largest, at}, Operand(double(most), at)), weight.dtype(), at);
  Tensor zero = frontend::scalar(0, DType::i8, at, "quantizedWeight");
  return fakeQuantize({weight, at}, {scale, at}, {zero, at}, {-most, most});
}

FakeQuantize::FakeQuantize(const FakeQuantizeOptions &options, Source at) : options(options) {
  checkBits(options.bits, "FakeQuantize", "it", at);
  if (!(options.momentum > 0 && options.momentum <= 1))
    fail(at, "FakeQuantize", "the momentum is " + realText(options.momentum) + ", expected above 0 and at most 1");
  double unknown = std::numeric_limits<double>::quiet_NaN();
  low = addBuffer("min_val", full({}, unknown, defaultDType(), at), true, at);
  high = addBuffer("max_val", full({}, unknown, defaultDType(), at), true, at);
}

Tensor FakeQuantize::operator()(const Operand &x) const {
  InLayer in(scope());
  frontend::requireDefined(x.tensor, "FakeQuantize", "the input", x.at);
  Source at = x.at;
  auto of = [&](const Tensor &value) { return Operand(value, at); };
  auto number = [&](double value) { return Operand(value, at); };
  if (isTraining()) {
    NoGrad quiet;
    Tensor value = stopGradient(x);
    Tensor isFirst = isNan(of(low.value()));
    auto move = [&](const Parameter &bound, const Tensor &batch) {
      Tensor now = bound.value(), seen = cast(of(batch), bound.dtype());
      Tensor moved = sprig::add(of(now), of(mul(of(sub(of(seen), of(now))), number(options.momentum))));
      bound.set(where(of(isFirst), of(seen), of(moved)), at);
    };
    auto range = [&](std::span<const Tensor> all) { return std::vector{min(of(all[0])), max(of(all[0]))}; };
    auto found = frontend::overSamples("FakeQuantize", std::span(&value, 1), /*keepsSamples=*/false, range, at);
    move(low, found[0]);
    move(high, found[1]);
  }
  // As lib/Quantize has quantisers of a range.
  int64_t span = int64_t(1) << options.bits, least = options.isSigned ? -span / 2 : 0, most = least + span - 1;
  Tensor bottom = minimum(of(low.value()), number(0)), top = maximum(of(high.value()), number(0));
  DType type = options.isSigned ? DType::i8 : DType::u8,
        scaleType = size(low.dtype()) < size(x.tensor.dtype()) ? low.dtype() : x.tensor.dtype();
  Tensor zero, scale;
  if (options.symmetric) {
    Tensor size = maximum(of(neg(of(bottom))), of(top));
    scale = usableScale(div(of(size), number(double(span / 2 - 1))), scaleType, at);
    zero = frontend::scalar(options.isSigned ? 0 : double(span / 2), type, at, "FakeQuantize");
  } else {
    scale = usableScale(div(of(sub(of(top), of(bottom))), number(double(span - 1))), scaleType, at);
    Tensor place = round(of(sub(number(double(least)), of(div(of(bottom), of(scale))))));
    zero = cast(of(clamp(of(place), number(double(least)), number(double(most)))), type);
  }
  Tensor given = cast(of(scale), x.tensor.dtype());
  return hooked(x, fakeQuantize(x, of(given), of(zero), {least, most}));
}

std::string FakeQuantize::extra() const {
  return "bits=" + std::to_string(options.bits) + ", signed=" + boolText(options.isSigned) +
         ", symmetric=" + boolText(options.symmetric) + ", momentum=" + realText(options.momentum);
}

Operand quantizedInput(const Module &layer, const Operand &x) {
  const Module::State &state = layer.rawState();
  if (!state.norm || !state.norm->bits) return x;
  for (const Module::State::Child &child : state.children)
    if (child.name == kQuantizer)
      if (auto *quantizer = dynamic_cast<const FakeQuantize *>(child.module.get())) return with((*quantizer)(x), x);
  return x;
}

void quantizeAware(Module &module, const QuantizeAwareOptions &options, Source at) {
  const char *what = "nn::quantizeAware";
  checkBits(options.weightBits, what, "the weight", at);
  checkBits(options.activations.bits, what, "an activation", at);
  std::vector<Module *> layers;
  module.apply([&](Module &each) {
    if (isQuantizable(each)) layers.push_back(&each);
  });
  if (layers.empty())
    fail(at, what, "the " + module.typeName() + " has no Linear, convolution or transposed convolution");
  for (Module *layer : layers) {
    StructureLock lock;
    bool isTransposed = dynamic_cast<ConvTranspose *>(layer);
    quantizeWeight(*layer, isTransposed ? 1 : 0, options.weightBits, options.perChannel, at);
    if (options.quantizesInputs) layer->add(kQuantizer, FakeQuantize(options.activations, at), at);
  }
}

} // namespace sprig::nn
